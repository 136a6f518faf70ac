// The changes of a source that advice tries.
#pragma once

#include "compile/tune/advice.h"

#include <string>
#include <vector>

namespace ptl {

/// The depths of pipelines that are tried.
inline constexpr int64_t kDepths[] = {1, 2, 3, 4};

/// A number of the source with the values that are tried for it.
struct SourceNumber {
  std::vector<int64_t> values; ///< in ascending order
  size_t start = 0;            ///< the number of the present one
  Span span;                   ///< where it stands
  std::string name;            ///< `BM`, `tiles(M, ..)`
  Span nameSpan;               ///< of a tunable: where it is declared
  bool isDepth = false;        ///< of a pipeline; else the size of tiles, or a tunable
  bool isWritten = false;      ///< in the text as the size of tiles
  /// The change, and how it is told: "`tiles(M, 128)`", "`BM = 128`", "`pipeline 3` on the loop at line 12".
  std::function<std::vector<TextEdit>(int64_t value)> edits;
  std::function<std::string(int64_t value)> text;
};

/// The value of a tunable that holds without a request: that of the schedule for the machine or for
/// all, else the default.
int64_t presentValue(const CheckedProgram &program, const std::string &machine,
                     const CallableDecl &decl, const Tunable &tunable);

/// The numbers of an entry and of what it calls, as far as they stand in the root file: sizes of
/// tiles, tunables, depths of loops.
std::vector<SourceNumber> sourceNumbers(const CostQuestion &question);

/// A change of another form.
struct SourceMove {
  AdviceKind kind;
  std::string text;
  Span span;
  std::vector<TextEdit> edits;
};

/// The axes of each grid in other orders.
std::vector<SourceMove> orderMoves(const CostQuestion &question);
/// Values computed before the loop that computes them anew in each round.
std::vector<SourceMove> hoistMoves(const CostQuestion &question);
/// Rows of an operand kept over a loop that loads them anew in each round.
std::vector<SourceMove> keepMoves(const CostQuestion &question);
/// Products whose contracted axis becomes one of the grid.
std::vector<SourceMove> splitMoves(const CostQuestion &question);
/// The dimensions by which the value of a name in a program can be tiled: its two axes, if they have
/// names that differ. Else nothing.
std::vector<std::string> tiledDims(const CheckedProgram &program, const CallableDecl &decl,
                                   const std::string &name);
/// Products without the conversions of their operands.
std::vector<SourceMove> operandMoves(const CostQuestion &question);
/// Loops that a grid ends with, as axes of the grid.
std::vector<SourceMove> parallelMoves(const CostQuestion &question);
/// Without items of the schedules of a program that begin another kernel.
std::vector<SourceMove> unscheduleMoves(const CostQuestion &question);
/// Items of a schedule for a program that has none: `fuse`, `split after`.
std::vector<SourceMove> scheduleMoves(const CostQuestion &question);

} // namespace ptl
