#include "passes/transform/groups/group_schedule.h"
#include "ir/dialect/attributes.h"

#include "passes/transform/groups/op_group.h"

using namespace mlir;

namespace ptl::ir {

std::optional<int64_t> scheduledStep(const OpGroup &group, int64_t axis) {
  const SpaceAxis &space = group.axis(axis);
  if (space.isWhole)
    return std::nullopt;
  for (Operation *member : group.members()) {
    auto sizes = attrs::tile.of(member);
    auto size =
        sizes ? dyn_cast_or_null<IntegerAttr>(sizes.get(lengthName(space.extent))) : IntegerAttr();
    if (size)
      return size.getInt();
  }
  return std::nullopt;
}

} // namespace ptl::ir
