// Products of whole values.
#pragma once

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

Value matmulValue(const Value &a, const Value &b);
/// The product of `a` with the transpose of `b`, where each block of the factors' rows has a scale.
Value scaledDotValue(const Value &a, const Value &aScale, const Value &b, const Value &bScale);
/// `equation` is like `"md,nd->mn"`, without spaces.
Value einsumValue(const std::string &equation, std::span<const Value> operands);

} // namespace ptl::reference
