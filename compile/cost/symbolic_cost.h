// Formulas over sizes: the iterations of loops, and the times that follow from them.
#pragma once

#include "compile/call/example_call.h"
#include "compile/entry/binding.h"
#include "frontend/sema/checked_tree.h"

#include <optional>
#include <string>

namespace ptl {

/// A number that depends on sizes.
struct Formula {
  std::string text;             ///< in PTL syntax: `H*cdiv(S, BQ)`; empty if unknown
  std::optional<int64_t> value; ///< at the sizes of the example call
};

/// The values of the symbols of dimensions: sizes of the example, tunables, statics.
DimLookup valuesOf(const CheckedProgram &program, const ir::EntryBinding &binding,
                   const std::vector<ExampleSize> &sizes);

/// The number of iterations of a loop; nothing if it depends on data or on outer loops. `stmt` is a
/// `for` or `parallel`.
Formula roundsOf(const Stmt &stmt, DimContext &dims, const DimLookup &values);

struct TimedLoop {
  Span span;
  double us = 0; ///< on the critical path, all iterations
  bool isGrid = false;
  Formula rounds;
  double pace = 0; ///< us of an iteration once the pipes are in a steady state; 0: unknown
};

/// The time of a kernel in microseconds as a formula of its sizes: `5.2 + cdiv(H*cdiv(S, BQ), 24) *
/// (1.1 + cdiv(T, BK) * (0.84))`. Its terms are the time outside the grid, and the turns of the
/// busiest core with the iterations of the loops in each turn. If the steady-state pace of a loop
/// is known, the time to fill its pipes counts once per execution of the loop, otherwise in each
/// iteration. The formula is exact at the sizes for which the times were measured, and a good
/// estimate elsewhere as long as the same resource is the limit. `loops` has the kernel's loops,
/// outer before inner; `blocks` is the number of cores that share the grid. Empty if the kernel is
/// not a single grid, or loops depend on data.
std::string timeFormula(double us, const std::vector<TimedLoop> &loops, int64_t blocks);

} // namespace ptl
