// The arguments that an expression gives to a built-in, by the place of the parameter in its record.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of one argument; none if it is left out.
Value operandOf(RunState &run, const OpExpr &expr, size_t index);

/// The operands in the order of the `Value` parameters, with variadic ones at the place of theirs,
/// and none for one that is left out.
std::vector<Value> operandsOf(RunState &run, const OpExpr &expr);

/// Whether an argument is given and true.
bool flagOf(RunState &run, const OpExpr &expr, size_t index);

/// The text of an argument; empty if it is left out.
std::string tagOf(RunState &run, const OpExpr &expr, size_t index);

/// The axes that the expression names, from the front of an operand of that rank.
std::vector<int64_t> axesOf(const OpExpr &expr, size_t rank);

} // namespace ptl::reference
