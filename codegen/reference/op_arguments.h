// The arguments of an expression that uses a built-in, by the parameter's index in the built-in's
// record.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of one argument; none if it is missing.
Value operandOf(RunState &run, const OpExpr &expr, size_t index);

/// The operands in the order of the `Value` parameters; variadic ones stand at the place of their
/// parameter, and a missing one is none.
std::vector<Value> operandsOf(RunState &run, const OpExpr &expr);

/// Whether an argument is present and true.
bool flagOf(RunState &run, const OpExpr &expr, size_t index);

/// The text of an argument; empty if it is missing.
std::string tagOf(RunState &run, const OpExpr &expr, size_t index);

/// The axes that the expression names, counted from the front of an operand of that rank.
std::vector<int64_t> axesOf(const OpExpr &expr, size_t rank);

} // namespace ptl::reference
