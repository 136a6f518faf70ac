// How two elements of a partial sum, maximum or minimum are combined.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/reference/scalar_ops.h"
#include "codegen/reference/value.h"
#include "frontend/sema/placement/placement.h"

#include <cstdint>

namespace ptl::parts {

/// Combines `left` and `right`, and rounds the result to the element type.
Scalar folded(Fold fold, ElemKind elem, Scalar left, Scalar right);

/// Combines `count` elements at `from` into those at `to`. With `fromFirst` the elements at `from`
/// are the left operands.
void foldAll(Fold fold, ElemKind elem, uint8_t *to, const uint8_t *from, int64_t count,
             bool fromFirst);

/// The identity element of addition: for floats it is -0.0, since -0.0 + 0.0 is 0.0.
reference::RefArray identityOfSums(ElemKind elem, std::vector<int64_t> shape);

/// Assembles a whole value from the blocks of its parts, and combines partial values. If two parts
/// have different elements, or an element is on no part, `why` has the reason.
reference::Value wholeOf(const Grid &grid, const PlacedValue &value, std::vector<int64_t> shape,
                         std::vector<reference::Value> parts, std::string &why);

} // namespace ptl::parts
