// Operations that rearrange whole values.
#pragma once

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

Value reshapeValue(const Value &x, std::vector<int64_t> shape);
Value transposeValue(const Value &x, std::span<const int64_t> axes);
Value concatValues(std::span<const Value> values, int64_t axis);
Value padValue(const Value &x, Scalar fill, std::span<const int64_t> before,
               std::span<const int64_t> after);
Value broadcastValue(const Value &x, std::vector<int64_t> shape);
Value interleaveValues(const Value &a, const Value &b);
/// A tuple of the elements at even and at odd positions.
Value deinterleaveValue(const Value &x);
/// `lower` selects `tril`, otherwise `triu`.
Value triangleValue(const Value &x, int64_t diagonal, bool lower);

} // namespace ptl::reference
