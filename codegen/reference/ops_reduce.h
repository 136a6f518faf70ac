// Reductions, searches and scans of whole values.
#pragma once

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

/// With `all`, reduces over every axis, to a scalar.
Value reduceValue(OpId op, const Value &x, std::span<const int64_t> axes, bool all);
Value argReduce(OpId op, const Value &x, std::optional<int64_t> axis);
Value scanValue(OpId op, const Value &x, int64_t axis);
Value isUnique(const Value &x);
Value isSorted(const Value &x);

} // namespace ptl::reference
