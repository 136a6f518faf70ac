// The changes of a source that the search for advice tries.
#pragma once

#include "compile/tune/advice.h"

#include <string>
#include <vector>

namespace ptl {

/// The depths of pipelines that are tried.
inline constexpr int64_t kDepths[] = {1, 2, 3, 4};

/// A number in the source, with the values that are tried for it.
struct SourceNumber {
  std::vector<int64_t> values; ///< in ascending order
  size_t start = 0;            ///< the index of the present one
  Span span;                   ///< where it stands
  std::string name;            ///< `BM`, `tiles(M, ..)`
  Span nameSpan;               ///< of a tunable: where it is declared
  bool isDepth = false;        ///< of a pipeline; else the size of tiles, or a tunable
  bool isWritten = false;      ///< the text contains it as the size of tiles
  /// The edit, and its description: "`tiles(M, 128)`", "`BM = 128`", "`pipeline 3` on the loop at
  /// line 12".
  std::function<std::vector<TextEdit>(int64_t value)> edits;
  std::function<std::string(int64_t value)> text;
};

/// A change of another kind than a number.
struct SourceMove {
  AdviceKind kind;
  std::string text;
  Span span;
  std::vector<TextEdit> edits;
};

/// Permutes the axes of each grid.
std::vector<SourceMove> orderMoves(const CostQuestion &question);
/// Hoists values out of the loop that recomputes them in each iteration.
std::vector<SourceMove> hoistMoves(const CostQuestion &question);
/// Keeps rows of an operand over a loop that reloads them in each iteration.
std::vector<SourceMove> keepMoves(const CostQuestion &question);
/// Splits products along the contracted axis, which becomes an axis of the grid (split-K).
std::vector<SourceMove> splitMoves(const CostQuestion &question);
/// The dimensions by which the value of a name in a program can be tiled: its two axes, if they
/// have different names. Otherwise empty.
std::vector<std::string> tiledDims(const CheckedProgram &program, const CallableDecl &decl,
                                   const std::string &name);
/// Removes conversions of the operands of products.
std::vector<SourceMove> operandMoves(const CostQuestion &question);
/// Moves loops at the end of a grid's body into the grid, as axes.
std::vector<SourceMove> parallelMoves(const CostQuestion &question);
/// Removes items of a program's schedules that start another kernel.
std::vector<SourceMove> unscheduleMoves(const CostQuestion &question);
/// Adds items to the schedule of a program that has none: `fuse`, `split after`.
std::vector<SourceMove> scheduleMoves(const CostQuestion &question);

} // namespace ptl
