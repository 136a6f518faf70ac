// Operations on whole values that compute each element by itself.
#pragma once

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

/// Elementwise, comparison and select records.
Value elementwise(OpId op, std::span<const Value> args);
Value convertValue(const Value &value, ElemKind to, RoundMode mode, bool saturate);
Value bitcastValue(const Value &value, ElemKind to);
/// `zero` may be absent.
Value quantizeValue(const Value &x, const Value &scale, const Value &zero, ElemKind to);
Value dequantizeValue(const Value &q, const Value &scale, const Value &zero);

Value fullValue(ElemKind elem, std::vector<int64_t> shape, Scalar value);
Value indexValue(const RangeValue &range);
Value oneHotValue(const Value &ids, int64_t extent, ElemKind elem);
Value philoxValue(const Value &counter, int64_t seed);
Value randomValue(ElemKind elem, std::vector<int64_t> shape, int64_t seed, Scalar low, Scalar high);

} // namespace ptl::reference
