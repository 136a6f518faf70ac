// The parts of `evalScalar`, by kind of operand.
#pragma once

#include "codegen/reference/scalar_ops.h"

namespace ptl::reference {

/// Elementwise records on floats, in `double`; nothing if no record of that arity matches.
std::optional<double> floatUnary(OpId op, double x);
std::optional<double> floatBinary(OpId op, double a, double b);
std::optional<double> floatTernary(OpId op, ElemKind elem, double a, double b, double c);

/// Elementwise records on integers and `int`; the result is wrapped.
EvalStatus evalInteger(OpId op, ElemKind elem, std::span<const Scalar> args, Scalar &result);

} // namespace ptl::reference
