// Binds locals to values, together with the symbols that stand for them in dimensions.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// Binds a local of the frame, and the symbols that stand for it in types: the symbol of an
/// integer, or those of the start, the length and the number of a range.
void bindLocal(RunState &run, const Local &which, Value value);

/// Binds the symbols that a range's type has for its start, its length and its number.
void bindRangeSymbols(RunState &run, const RangeInfo &info, const RangeValue &range);

/// Binds the locals that name dimensions of `decl` to the values of these dimensions.
void bindDimLocals(RunState &run, const CallableDecl &decl);

/// Binds the tunables of `decl` to the overrides of their names, otherwise to their defaults.
void bindTunables(RunState &run, const CallableDecl &decl,
                  const std::map<std::string, int64_t> &overrides);

/// The value of a variable without an initial value: reading it stops the run.
Value undefinedOf(const RunState &run, const Type &type);

} // namespace ptl::reference
