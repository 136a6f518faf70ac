// Operations on one integer.
#pragma once

#include "codegen/reference/scalar_internal.h"

namespace ptl::reference {

/// Elementwise records on integers and `int`; the result is wrapped.
EvalStatus evalInteger(OpId op, ElemKind elem, std::span<const Scalar> args, Scalar &result);

} // namespace ptl::reference
