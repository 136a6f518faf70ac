// Computes formulas over sizes: the rounds of loops, and from these the time.
#pragma once

#include "compile/call/example_call.h"
#include "compile/entry/binding.h"
#include "frontend/sema/checked_tree.h"

#include <optional>
#include <string>

namespace ptl {

/// A number that depends on sizes.
struct Formula {
  std::string text;             ///< in the language: `H*cdiv(S, BQ)`; empty: none is known
  std::optional<int64_t> value; ///< at the sizes of the example
};

/// The values of the symbols of dimensions: sizes of the example, tunables, statics.
DimLookup valuesOf(const CheckedProgram &program, const ir::EntryBinding &binding,
                   const std::vector<ExampleSize> &sizes);

/// The number of times that the body of a loop runs; nothing where it depends on data or on outer
/// loops. `stmt` is a `for` or `parallel`.
Formula roundsOf(const Stmt &stmt, DimContext &dims, const DimLookup &values);

struct TimedLoop {
  Span span;
  double us = 0; ///< of the critical path, all rounds
  bool isGrid = false;
  Formula rounds;
  double pace = 0; ///< us of a round once pipes have fallen into step; 0: not known
};

/// The time of a kernel in microseconds as a formula of its sizes: `5.2 + cdiv(H*cdiv(S, BQ), 24) *
/// (1.1 + cdiv(T, BK) * (0.84))`. It has the time beside the grid, and then the turns of the
/// busiest core with the rounds of the loops in each. Where the pace of a loop is known, the time
/// in which its pipes fill counts once each time that the loop is entered, otherwise in each round.
/// The formula is exact at the sizes that the times were found for, and good beyond them as long as
/// the same resource is the limit. `loops` has the kernel's loops, outer before inner; `blocks` is
/// the number of cores that share the grid. Empty where the kernel is no single grid, or where
/// loops depend on data.
std::string timeFormula(double us, const std::vector<TimedLoop> &loops, int64_t blocks);

} // namespace ptl
