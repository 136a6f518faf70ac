#include "codegen/parts/index_region.h"

#include "codegen/parts/elements.h"

namespace ptl::parts {

namespace {

class RegionWalk {
public:
  RegionWalk(const IndexOnPart &index, std::string &why) : index_(index), why_(why) {
    for (size_t axis = 0; axis < index.have.size(); ++axis) {
      reference::Region::Axis each;
      each.base = static_cast<int64_t>(axis);
      each.length = index.have[axis].length();
      region_.axes.push_back(each);
    }
  }

  std::optional<reference::Region> run() {
    const PlacedValue &value = index_.value;
    for (const auto &[axis, position] : value.positions)
      // Of a cut axis only a stage takes a position, from its own block.
      takeOne(region_.axes[axis], index_.number(position) - index_.have[axis].begin);
    for (const PlacedSelection &selection : value.selected) {
      reference::Region::Axis &axis = region_.axes[selection.axis];
      if (selection.operand == 0)
        takeSlice(axis, selection);
      else if (const reference::Value &at = index_.operand(selection.operand); at.isScalar())
        takeOne(axis, at.asScalar().scalar.i);
      else
        takeRows(axis, elementsOf(at));
    }
    return why_.empty() ? std::optional(std::move(region_)) : std::nullopt;
  }

private:
  void outside(const std::string &what, int64_t length) {
    if (why_.empty())
      why_ = what + " of an axis of length " + std::to_string(length);
  }

  void takeOne(reference::Region::Axis &axis, int64_t at) {
    if (!index_.value.hasOutside && (at < 0 || at >= axis.length))
      outside("position " + std::to_string(at), axis.length);
    axis.start = at;
    axis.length = 1;
    axis.dropped = true;
  }

  void takeRows(reference::Region::Axis &axis, const std::vector<Scalar> &positions) {
    for (const Scalar &position : positions) {
      if (position.i < 0 || position.i >= axis.length)
        outside("position " + std::to_string(position.i), axis.length);
      region_.positions.push_back(position.i);
    }
    axis.isGather = true;
    axis.length = static_cast<int64_t>(positions.size());
  }

  void takeSlice(reference::Region::Axis &axis, const PlacedSelection &slice) {
    int64_t extent = axis.length;
    axis.start = index_.number(slice.start);
    axis.length = index_.number(slice.length);
    axis.step = index_.number(slice.step);
    int64_t last = axis.start + (axis.length - 1) * axis.step;
    bool endsBefore = slice.stop && index_.number(slice.stop) < axis.start;
    bool fits = axis.start >= 0 && axis.length >= 0 && (axis.length == 0 || last < extent);
    if (endsBefore)
      why_ = "a slice ends at " + std::to_string(index_.number(slice.stop)) +
             ", before its start " + std::to_string(axis.start);
    else if (!fits && !index_.value.hasOutside)
      outside("positions " + std::to_string(axis.start) + ".." + std::to_string(last + 1), extent);
  }

  const IndexOnPart &index_;
  std::string &why_;
  reference::Region region_;
};

} // namespace

std::optional<reference::Region> regionOf(const IndexOnPart &index, std::string &why) {
  return RegionWalk(index, why).run();
}

} // namespace ptl::parts
