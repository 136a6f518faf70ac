#include "codegen/pto/pto_types.h"

#include "codegen/pto/windows.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ptl::pto {

namespace {

std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// `_nx64`
std::string shapeName(llvm::ArrayRef<int64_t> shape) {
  std::string name;
  for (int64_t extent : shape)
    name += (name.empty() ? "_" : "x") + (extent == kDynamic ? "n" : std::to_string(extent));
  return name;
}

} // namespace

TypeAliases::TypeAliases(llvm::ArrayRef<ModuleOp> modules) {
  auto note = [&](Type type) {
    // The slots of a buffer are used as single tiles, so the type of one slot gets the alias.
    if (auto slots = dyn_cast<MultiTileBufType>(type))
      type = slots.getSlot();
    if (isa<TileBufType, TensorViewType, PartitionViewType>(type))
      aliases_.insert({type, ""});
  };
  for (ModuleOp module : modules)
    module->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        note(type);
      // A window is printed as a tile of its own with a wider type, which no result shows.
      if (auto window = dyn_cast<SubsetOp>(op))
        note(windowType(window));
    });
  // A place with a single tile type needs no details in its name.
  llvm::StringMap<unsigned> ofPlace;
  for (auto &[type, alias] : aliases_)
    if (auto tile = dyn_cast<TileBufType>(type))
      ++ofPlace[ir::placeName(tile.getPlace())];
  llvm::StringMap<unsigned> taken;
  for (auto &[type, alias] : aliases_) {
    if (auto tile = dyn_cast<TileBufType>(type))
      alias = nameOf(tile, ofPlace[ir::placeName(tile.getPlace())] == 1);
    else if (auto view = dyn_cast<TensorViewType>(type))
      alias = "!view_" + printed(view.getElementType()) + shapeName(view.getShape());
    else
      alias = "!part_" + printed(cast<PartitionViewType>(type).getElementType()) +
              shapeName(cast<PartitionViewType>(type).getShape());
    // Types that differ in something that the name leaves out are told apart by a number.
    if (unsigned count = taken[alias]++)
      alias += "_" + std::to_string(count);
  }
}

/// `!acc` if it is the only one there, else `!vec_f32_64x128`, with the layout and the valid part
/// where they say more.
std::string TypeAliases::nameOf(TileBufType tile, bool onlyOfPlace) const {
  std::string name = "!" + ir::placeName(tile.getPlace()).str();
  if (onlyOfPlace)
    return name;
  name += "_" + printed(tile.getElementType()) + "_" + std::to_string(tile.getRows()) + "x" +
          std::to_string(tile.getCols());
  llvm::StringRef layout = layoutName(tile.getLayout());
  // In `vec` only a layout other than row-major is unusual; tiles in `mat` have several layouts;
  // each of the other places has its own.
  if (tile.getPlace() == ir::Place::Vec ? layout != "nd" : tile.getPlace() == ir::Place::Mat)
    name += "_" + layout.str();
  auto extent = [](int64_t valid) {
    return valid == kDynamic ? std::string("n") : std::to_string(valid);
  };
  if (!tile.hasDynamicValid() &&
      (tile.getValidRows() != tile.getRows() || tile.getValidCols() != tile.getCols()))
    name += "_of_" + extent(tile.getValidRows()) + "x" + extent(tile.getValidCols());
  return name;
}

std::string TypeAliases::of(Type type) const {
  if (auto found = aliases_.find(type); found != aliases_.end())
    return found->second;
  // A type without an alias is printed once and kept: printing is slow, and the same few types
  // recur.
  std::string &text = texts_[type];
  return text.empty() ? text = printed(type) : text;
}

std::vector<std::string> TypeAliases::definitions() const {
  std::vector<std::string> lines;
  for (const auto &[type, alias] : aliases_)
    lines.push_back(alias + " = " + printed(type));
  return lines;
}

Type signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? IntegerType::get(type.getContext(), integer.getWidth())
                                          : type;
}

} // namespace ptl::pto
