// Operations on whole values by positions and by order.
#pragma once

#include "codegen/reference/array_ops.h"

namespace ptl::reference {

Value gatherValue(const Value &x, const Value &idx, int64_t axis);
Value scatterValue(const Value &x, const Value &idx, const Value &v, int64_t axis,
                   std::string_view combine);
Value sortValue(const Value &x, int64_t axis, bool descending, bool positions);
/// A tuple of values and positions.
Value topkValue(const Value &x, int64_t k);

} // namespace ptl::reference
