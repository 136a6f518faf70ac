#include "passes/transform/groups/schedule_effects.h"

#include "ir/dialect/attributes.h"
#include "passes/transform/groups/group_schedule.h"

using namespace mlir;

namespace ptl::ir {

std::string ScheduleEffects::Item::label() const {
  return cast<StringAttr>(attributes.get("label")).str();
}

std::optional<int64_t> ScheduleEffects::Item::number(llvm::StringRef name) const {
  auto number = dyn_cast_or_null<IntegerAttr>(attributes.get(name));
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// `[B, F]`
static std::string shapeText(Type type) {
  std::string text;
  for (const Extent &extent : extentsOf(type))
    text += (text.empty() ? "[" : ", ") + lengthName(extent);
  return text + "]";
}

static llvm::ArrayRef<int64_t> numbersOf(Operation *op) {
  auto numbers = attrs::item.of(op);
  return numbers ? numbers.asArrayRef() : llvm::ArrayRef<int64_t>();
}

ScheduleEffects::ScheduleEffects(func::FuncOp function) : function_(function) {
  auto attributes = attrs::items.of(function);
  if (!attributes)
    return;
  for (Attribute each : attributes)
    items_.push_back({cast<DictionaryAttr>(each)});
  function.walk([&](Operation *op) {
    // Operations carry the numbers of the schedule's items, so they can be found again after
    // rewriting.
    for (int64_t number : numbersOf(op)) {
      Item &item = items_[static_cast<size_t>(number)];
      item.block = op->getBlock();
      item.task = attrs::task.of(op);
      item.cores = attrs::cores.of(op);
      item.isSplit = attrs::split.isOn(op);
      if (op->getNumResults() == 1 && isa<ArrayType>(op->getResult(0).getType()))
        item.type = shapeText(op->getResult(0).getType());
    }
  });
}

void ScheduleEffects::refuse(const Item &item, const std::string &why) {
  Builder b(function_.getContext());
  refused_.push_back(b.getArrayAttr(
      {item.attributes.get("item"), b.getStringAttr(why), item.attributes.get("at")}));
}

/// Empty: the tiles are as large as it says.
std::string ScheduleEffects::whyNotTiled(const Item &item) const {
  auto length = cast<StringAttr>(item.attributes.get("length")).getValue();
  std::string name = "`" + item.label() + "`";
  if (item.grids.empty())
    return name + " is not computed tile by tile";
  std::optional<int64_t> other;
  // One grid with the wanted size is enough.
  for (Operation *grid : item.grids)
    if (auto sizes = attrs::tiled.of(grid))
      if (auto size = dyn_cast_or_null<IntegerAttr>(sizes.get(length))) {
        if (size.getInt() == item.number("size"))
          return "";
        other = size.getInt();
      }
  if (other)
    return "what shares its kernel is tiled by " + std::to_string(*other);
  return "a tile of the kernel that computes " + name + " has all of `" + length.str() + "`";
}

/// Why two values do not share a grid.
std::string ScheduleEffects::whyNotFused(const Item &a, const Item &b) const {
  // The reasons are tried from the most basic to the most special one.
  std::string first = "`" + a.label() + "`", second = "`" + b.label() + "`";
  for (const Item *each : {&a, &b})
    if (each->grids.empty())
      return "`" + each->label() + "` is not computed tile by tile";
  if (a.block != b.block)
    return first + " and " + second + " stand in different loops or branches";
  if (a.task != b.task)
    return first + " and " + second + " are of different tasks";
  if (a.cores != b.cores)
    return first + " and " + second + " are computed by different numbers of cores";
  if (a.isSplit)
    return "the kernel ends after " + first + ", as the schedule says elsewhere";
  if (a.type != b.type)
    return first + " is `" + a.type + "` and " + second + " is `" + b.type +
           "`: what shares a kernel has tiles along the same lengths";
  return "what is computed with " + first + " and what is computed with " + second +
         " have different tiles, or one needs all of the other";
}

/// Notes for each item which grids compute its value.
void ScheduleEffects::findGrids() {
  function_.walk([&](Operation *op) {
    Operation *grid = nullptr;
    // The outermost grid is the kernel.
    for (Operation *outer = op->getParentOp(); outer; outer = outer->getParentOp())
      grid = isa<ParallelOp>(outer) ? outer : grid;
    for (int64_t number : numbersOf(op))
      if (std::vector<Operation *> &grids = items_[static_cast<size_t>(number)].grids;
          grid && !llvm::is_contained(grids, grid))
        grids.push_back(grid);
  });
}

/// The first item of those that are to share a kernel with this one; null if it is the first.
const ScheduleEffects::Item *ScheduleEffects::firstFusedWith(size_t number) const {
  std::optional<int64_t> fuse = items_[number].number("fuse");
  for (size_t first = 0; fuse && first < number; ++first)
    if (items_[first].number("fuse") == fuse)
      return &items_[first];
  return nullptr;
}

/// Why an item had no effect; empty if it had.
std::string ScheduleEffects::whyWithoutEffect(size_t number) const {
  const Item &item = items_[number];
  // All that share a kernel do so with the first of them.
  if (const Item *first = firstFusedWith(number)) {
    bool shares = llvm::any_of(
        item.grids, [&](Operation *grid) { return llvm::is_contained(first->grids, grid); });
    return shares ? "" : whyNotFused(*first, item);
  }
  if (item.attributes.get("length"))
    return whyNotTiled(item);
  // What cuts a contraction takes the item off the product, which has no grid by this number then.
  if (std::optional<int64_t> chunks = item.number("chunks"))
    return *chunks == 1 || item.grids.empty()
               ? ""
               : "its product is no sum over several positions that the cube core makes in `f32` "
                 "or "
                 "`i32`, or is computed together with what is not element by element";
  return !item.number("fuse") && item.grids.empty()
             ? "`" + item.label() + "` is not computed tile by tile"
             : "";
}

void ScheduleEffects::check() {
  if (items_.empty())
    return;
  findGrids();
  for (size_t number = 0; number < items_.size(); ++number)
    if (std::string why = whyWithoutEffect(number); !why.empty())
      refuse(items_[number], why);
  attrs::items.remove(function_);
  if (!refused_.empty())
    attrs::refused.set(function_, refused_);
}

} // namespace ptl::ir
