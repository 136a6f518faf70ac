// How two elements of a partial sum, maximum or minimum become one.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/reference/scalar_ops.h"
#include "codegen/reference/value.h"
#include "frontend/sema/placement/placement.h"

#include <cstdint>

namespace ptl::parts {

/// `left` and `right` as one element, rounded to the element type.
Scalar folded(Fold fold, ElemKind elem, Scalar left, Scalar right);

/// Folds `count` elements at `from` into those at `to`. With `fromFirst` those at `from` are the left
/// operands.
void foldAll(Fold fold, ElemKind elem, uint8_t *to, const uint8_t *from, int64_t count,
             bool fromFirst);

/// Zeros that change no summand: of floats those with a sign, since -0.0 + 0.0 is 0.0.
reference::RefArray identityOfSums(ElemKind elem, std::vector<int64_t> shape);

/// The whole of what parts have, partial values folded. `why` says where two parts have different elements, or none has one.
reference::Value wholeOf(const Grid &grid, const PlacedValue &value, std::vector<int64_t> shape,
                         std::vector<reference::Value> parts, std::string &why);

} // namespace ptl::parts
