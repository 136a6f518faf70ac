// Gives locals their values, and the symbols of dimensions that stand for them.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Binds a local of the frame, and the symbols by which types speak of it: that of an integer, those
/// of the start, the length and the number of a range.
void bindLocal(RunState &run, const Local &which, Value value);

/// Binds the symbols that a range's type has for its start, its length and its number.
void bindRangeSymbols(RunState &run, const RangeInfo &info, const RangeValue &range);

/// Gives the locals that name dimensions of `decl` the values of these dimensions.
void bindDimLocals(RunState &run, const CallableDecl &decl);

/// Binds the tunables of `decl`: to the override of that name, else to their default.
void bindTunables(RunState &run, const CallableDecl &decl,
                  const std::map<std::string, int64_t> &overrides);

/// The value of a variable without an initial value: every read of it stops the run.
Value undefinedOf(const RunState &run, const Type &type);

} // namespace ptl::reference
