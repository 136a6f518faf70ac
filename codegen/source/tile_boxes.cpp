#include "codegen/source/tile_boxes.h"

#include "codegen/source/axis_lengths.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_inlining.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_ranges.h"
#include "ir/dialect/lengths.h"
#include "passes/analysis/lengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

namespace {
/// One item of the brackets of an index.
struct Item {
  std::string text;
  bool dropped = false;
};
/// `base[items]`, taken apart.
struct Indexed {
  std::string base;
  std::vector<Item> items;
  std::string outside;
  std::string text() const;
};
} // namespace

static bool isWholeAxis(BodyCode &code, Value base, int64_t axis, Value offset, Value length,
                        Value step) {
  if (!isConstant(offset, 0) || (step && !isConstant(step, 1)))
    return false;
  const ir::Extent &extent = ir::extentsOf(base.getType())[axis];
  if (extent.isConstant())
    return isConstant(length, extent.length);
  // The length may be asked of the array itself.
  if (auto dim = length.getDefiningOp<ir::DimOp>())
    if (dim.getSource() == base && static_cast<int64_t>(dim.getAxis()) == axis)
      return true;
  // What is made as long as the slice is.
  // Casts only describe the array differently.
  Operation *made = base.getDefiningOp();
  while (isa_and_nonnull<ir::CastOp>(made))
    made = made->getOperand(0).getDefiningOp();
  if (ir::knownLength(base, static_cast<unsigned>(axis)) == length ||
      ir::findLength(base, axis) == length)
    return true;
  if (made && ir::extentsOf(base.getType()).size() == 1 && isCheap(made) &&
      llvm::is_contained(made->getOperands(), length))
    return true;
  // Different values may have the same text, which is what the reader sees.
  return lengthText(code, length).text == extentText(extent).text;
}

/// Integers of any type may index; the compiler made `index` of them.
static std::string positionItem(BodyCode &code, Value offset) {
  Operation *op = offset.getDefiningOp();
  // The conversion to `index` is not in the source.
  if (isa_and_nonnull<ir::ConvertOp>(op) && !code.isKnown(offset))
    return valueText(code, op->getOperand(0)).text;
  return valueText(code, offset).text;
}

/// The end of a range with steps in an axis: behind the last step, or where the axis ends. So it is
/// no position before the start where the range is empty. Nothing: neither is known to be right.
static std::optional<std::string> steppedEnd(BodyCode &code, Value base, int64_t axis, Value offset,
                                             Value length, int64_t step) {
  Positions positions;
  DimContext &dims = positions.dims();
  Dim whole = lengthOf(positions, base, static_cast<unsigned>(axis));
  Dim behind = dims.add(positions.of(offset), dims.scale(positions.of(length), step));
  std::optional<int64_t> left = dims.sub(whole, behind).constant();
  if (!left || *left <= -step)
    return std::nullopt;
  if (*left < 0)
    return extentText(ir::extentsOf(base.getType())[axis]).text;
  Expression steps = binary({std::to_string(step)}, "*", valueText(code, length));
  return (isConstant(offset, 0) ? steps : binary(valueText(code, offset), "+", steps)).text;
}

/// One range of an index: `:`, a range by its name, shifted or strided, or its ends.
static std::string rangeItem(BodyCode &code, Value base, int64_t axis, Value offset, Value length,
                             Value step) {
  // The forms are tried from the shortest to the longest.
  if (isWholeAxis(code, base, axis, offset, length, step))
    return ":";
  if (const OpenRange *range = rangeOf(code, offset, length);
      range && (!step || isConstant(step, 1)))
    return range->name;
  // An offset of the form `step * position + shift` is a range that was spread and shifted.
  auto shifted = offset.getDefiningOp<arith::AddIOp>();
  Value first = shifted ? shifted.getLhs() : offset;
  auto scaled = first.getDefiningOp<arith::MulIOp>();
  Value position = scaled ? scaled.getLhs() : first;
  const OpenRange *range = rangeOf(code, position, length);
  // A spread range has the step that the slice has.
  bool sameStep = scaled ? step && scaled.getRhs() == step : !step || isConstant(step, 1);
  if (range && sameStep && range->position == position) {
    Expression text{range->name};
    if (scaled)
      text = binary(valueText(code, scaled.getRhs()), "*", text);
    if (!shifted)
      return text.text;
    if (std::optional<int64_t> by = getConstantIntValue(shifted.getRhs()); by && *by < 0)
      return binary(text, "-", {std::to_string(-*by)}).text;
    return binary(text, "+", valueText(code, shifted.getRhs())).text;
  }
  std::optional<int64_t> start = getConstantIntValue(offset), count = getConstantIntValue(length),
                         stride = step ? getConstantIntValue(step) : 1;
  const ir::Extent &extent = ir::extentsOf(base.getType())[axis];
  // `0:6:2` and `1:6:2` are seen to be all of an axis.
  if (start && count && stride && *stride > 1 && extent.isConstant())
    // The end may reach beyond the axis, where it is cut.
    return std::to_string(*start) + ":" +
           std::to_string(std::min(extent.length, *start + *count * *stride)) + ":" +
           std::to_string(*stride);
  if (stride && *stride > 1)
    if (auto end = steppedEnd(code, base, axis, offset, length, *stride))
      return valueText(code, offset).as(Precedence::Or) + ":" + *end + ":" +
             std::to_string(*stride);
  return rangeText(code, offset, length, step, ":").text;
}

std::string Indexed::text() const {
  std::vector<std::string> texts;
  for (const Item &each : items)
    texts.push_back(each.text);
  std::string whole = base + "[" + llvm::join(texts, ", ") + "]";
  return outside.empty() ? whole : "load(" + whole + ", outside: " + outside + ")";
}

static Indexed boxOf(BodyCode &code, Value base, OperandRange offsets, OperandRange lengths,
                     OperandRange steps, llvm::ArrayRef<int64_t> dropped) {
  Indexed box{baseText(code, base), {}, ""};
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    auto number = static_cast<int64_t>(axis);
    bool isDropped = llvm::is_contained(dropped, number);
    Value step = steps.empty() ? Value() : steps[axis];
    box.items.push_back({isDropped
                             ? positionItem(code, offsets[axis])
                             : rangeItem(code, base, number, offsets[axis], lengths[axis], step),
                         isDropped});
  }
  return box;
}

bool isWholeBox(BodyCode &code, Value base, OperandRange offsets, OperandRange lengths,
                OperandRange steps, llvm::ArrayRef<int64_t> dropped) {
  if (!dropped.empty())
    return false;
  for (size_t axis = 0; axis < offsets.size(); ++axis)
    if (!isWholeAxis(code, base, static_cast<int64_t>(axis), offsets[axis], lengths[axis],
                     steps.empty() ? Value() : steps[axis]))
      return false;
  return true;
}

std::string boxText(BodyCode &code, Value base, OperandRange offsets, OperandRange lengths,
                    OperandRange steps, llvm::ArrayRef<int64_t> dropped, Value scatter,
                    int64_t scatterAxis) {
  Indexed box = boxOf(code, base, offsets, lengths, steps, dropped);
  if (scatter)
    box.items[static_cast<size_t>(scatterAxis)].text = valueText(code, scatter).text;
  return box.text();
}

std::string baseText(BodyCode &code, Value array) {
  if (code.isKnown(array))
    return code.known(array).as(Precedence::Postfix);
  // An array from outside of the grid becomes known when it is asked for.
  if (code.kind().foreign(array) && code.isKnown(array))
    return code.known(array).as(Precedence::Postfix);
  return valueText(code, array).as(Precedence::Postfix);
}

static bool isIndexing(Operation *op) {
  return op && isa<ir::SliceOp, ir::LoadOp, ir::TakeOp, ir::NewAxisOp>(op);
}

/// An index expression. Positions taken by arrays and new axes go into the brackets of the box that
/// they are of.
static Indexed indexed(BodyCode &code, Operation *op) {
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    Indexed box = boxOf(code, slice.getSource(), slice.getOffsets(), slice.getLengths(),
                        slice.getSteps(), slice.getDropped());
    if (slice.getOutside())
      box.outside = operandText(code, op, slice.getOutside()).text;
    return box;
  }
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    Indexed box = boxOf(code, load.getRef(), load.getOffsets(), load.getLengths(), load.getSteps(),
                        load.getDropped());
    if (load.getOutside())
      box.outside = operandText(code, op, load.getOutside()).text;
    return box;
  }
  Value source = op->getOperand(0);
  Operation *inner = source.getDefiningOp();
  auto wholeItems = [](Value array) {
    return std::vector<Item>(static_cast<size_t>(ir::rankOf(array.getType())), Item{":"});
  };
  // The inner expression can be merged if it has no name and is written here alone.
  bool merge = isIndexing(inner) && !code.isKnown(source) && !code.kind().foreign(source) &&
               isInlined(code, inner);
  Indexed box = merge ? indexed(code, inner) : Indexed{baseText(code, source), {}, ""};
  // An index with a value for outside stands by itself, and the next one goes behind it.
  if (!merge || !box.outside.empty())
    box = {merge ? box.text() : box.base, wholeItems(source), ""};
  // The n-th axis of the source is the n-th item that is not a position.
  auto at = [&](int64_t axis) {
    size_t i = 0;
    for (; i < box.items.size(); ++i)
      if (!box.items[i].dropped && axis-- == 0)
        break;
    return i;
  };
  if (auto take = dyn_cast<ir::TakeOp>(op)) {
    auto axis = static_cast<int64_t>(take.getAxis());
    // A range at that place would have to be taken first, so the box is written by itself.
    if (box.items[at(axis)].text != ":")
      box = {box.text(), wholeItems(source), ""};
    box.items[at(axis)].text = valueText(code, take.getIndex()).text;
    return box;
  }
  // New axes are inserted in order, so that later positions count them.
  for (int64_t axis : cast<ir::NewAxisOp>(op).getAxes())
    box.items.insert(box.items.begin() + static_cast<ptrdiff_t>(at(axis)), Item{"new"});
  return box;
}

std::string indexedText(BodyCode &code, Operation *op) { return indexed(code, op).text(); }

} // namespace ptl::source
