#include "passes/transform/groups/group_schedule.h"
#include "ir/dialect/attributes.h"

#include "passes/transform/groups/op_group.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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

/// The item of a function's schedule with that number, if it is about chunks: how many.
static std::optional<int64_t> chunksOf(Operation *op, int64_t number) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto items = function ? attrs::items.of(function) : ArrayAttr();
  if (!items || number >= static_cast<int64_t>(items.size()))
    return std::nullopt;
  auto item = cast<DictionaryAttr>(items[static_cast<unsigned>(number)]);
  auto chunks = dyn_cast_or_null<IntegerAttr>(item.get("chunks"));
  return chunks ? std::optional(chunks.getInt()) : std::nullopt;
}

std::optional<int64_t> scheduledChunks(Operation *op) {
  if (auto numbers = attrs::item.of(op))
    for (int64_t number : numbers.asArrayRef())
      if (std::optional<int64_t> chunks = chunksOf(op, number))
        return chunks;
  return std::nullopt;
}

std::optional<int64_t> takeChunks(Operation *op) {
  std::optional<int64_t> chunks = scheduledChunks(op);
  if (!chunks)
    return std::nullopt;
  llvm::SmallVector<int64_t> left;
  llvm::copy_if(attrs::item.of(op).asArrayRef(), std::back_inserter(left),
                [&](int64_t number) { return !chunksOf(op, number); });
  attrs::item.set(op, left);
  return chunks;
}

} // namespace ptl::ir
