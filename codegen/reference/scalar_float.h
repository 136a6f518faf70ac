// Operations on one float.
#pragma once

#include "codegen/reference/scalar_internal.h"

namespace ptl::reference {

/// Elementwise records on floats, in `double`; nothing if no record of that arity matches.
std::optional<double> floatUnary(OpId op, double x);
std::optional<double> floatBinary(OpId op, double a, double b);
std::optional<double> floatTernary(OpId op, ElemKind elem, double a, double b, double c);

} // namespace ptl::reference
