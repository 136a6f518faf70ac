// The region that an index of a placed program selects in the block of one part.
#pragma once

#include "codegen/reference/array_region.h"
#include "frontend/sema/placement/placement.h"
#include "runtime/movement/step_list.h"

#include <functional>

namespace ptl::parts {

/// An `Index` or a `Store` on one part.
struct IndexOnPart {
  const PlacedValue &value;
  movement::Box have; ///< the part's block of the array, in coordinates of the whole array
  std::function<int64_t(Dim)> number;
  std::function<const reference::Value &(size_t)> operand;
};

/// The region in the part's block. If a position lies outside, and nothing is said about what lies
/// there, returns nothing and the reason in `why`.
std::optional<reference::Region> regionOf(const IndexOnPart &index, std::string &why);

} // namespace ptl::parts
