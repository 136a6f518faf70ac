// Positions, lengths and ranges: arithmetic on `index`, and the boxes of loads and stores.
#include "codegen/source/tile_body.h"
#include "ir/dialect/lengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

using ir::extentsOf;

static bool isConstant(Value value, int64_t expected) {
  return getConstantIntValue(value) == expected;
}

bool isPositionOp(Operation *op) {
  if (isa<ir::DimOp>(op))
    return true;
  // Constants are written where they are used.
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  Type type = op->getResult(0).getType();
  // Positions are integers, and conditions on them are part of their arithmetic.
  return type.isIndex() || type.isInteger(1);
}

// ---- Arithmetic ---------------------------------------------------------------------------------

Expression TileBody::binaryPosition(Operation *op, llvm::StringRef spelling) {
  return binary(value(op->getOperand(0)), spelling, value(op->getOperand(1)));
}

/// `min` and `max` have their operands in one order, with at most one number, which stands last:
/// the checker has one, too.
Expression TileBody::callPosition(Operation *op, llvm::StringRef name) {
  if (name == "cdiv")
    return {("cdiv(" + value(op->getOperand(0)).text + ", " + value(op->getOperand(1)).text + ")")};
  // Nested calls of the same kind are gathered into one list of operands.
  llvm::SmallVector<Value> work = {op->getOperand(1), op->getOperand(0)};
  llvm::SmallVector<std::string> operands;
  std::optional<int64_t> number;
  while (!work.empty()) {
    Value operand = work.pop_back_val();
    Operation *made = operand.getDefiningOp();
    // Numbers are combined when writing.
    if (std::optional<int64_t> own = getConstantIntValue(operand))
      number = !number ? *own : name == "min" ? std::min(*number, *own) : std::max(*number, *own);
    // A call that has a name, is a part of a range or is used elsewhere stays by itself.
    else if (made && made->getName() == op->getName() && !known_.count(operand) &&
             !rangePart(operand) && made->hasOneUse())
      work.append({made->getOperand(1), made->getOperand(0)});
    else
      operands.push_back(value(operand).text);
  }
  // Sorting makes the text independent of the order in the IR.
  llvm::sort(operands);
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  if (number)
    operands.push_back(std::to_string(*number));
  if (operands.size() == 1)
    return {operands[0]};
  // The checker takes two at a time.
  std::string text = operands[0];
  for (const std::string &each : llvm::drop_begin(operands))
    text = (name + "(" + text + ", " + each + ")").str();
  return {text};
}

/// `-1 * x` and `x * -1`: the `x`.
static Value negated(Value value) {
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (product && isConstant(product.getRhs(), -1))
    return product.getLhs();
  return product && isConstant(product.getLhs(), -1) ? product.getRhs() : Value();
}

Expression TileBody::position(Operation *op) {
  auto unsupported = [&](Operation *op) {
    // Scalar operations that are no positions are written by their own rules.
    if (std::optional<Expression> own = scalar(op))
      return *own;
    unwritable_(op, "`" + op->getName().getStringRef().str() + "` has no spelling");
    return Expression{"0"};
  };
  return llvm::TypeSwitch<Operation *, Expression>(op)
      .Case<ir::DimOp>([&](ir::DimOp dim) {
        return extentText(extentsOf(dim.getSource().getType())[dim.getAxis()]);
      })
      .Case<arith::AddIOp>([&](arith::AddIOp sum) {
        // a + -1 * b is a subtraction in the source.
        if (Value subtracted = negated(sum.getRhs()))
          return binary(value(sum.getLhs()), "-", value(subtracted));
        if (std::optional<int64_t> addend = getConstantIntValue(sum.getRhs());
            addend && *addend < 0)
          return binary(value(sum.getLhs()), "-", {std::to_string(-*addend)});
        return binaryPosition(op, "+");
      })
      .Case<arith::SubIOp>([&](auto) { return binaryPosition(op, "-"); })
      .Case<arith::MulIOp>([&](arith::MulIOp product) {
        if (Value inner = negated(product.getResult()))
          return Expression{"-" + value(inner).as(Precedence::Unary), Precedence::Unary};
        // The constant factor stands in front, as people write it.
        if (getConstantIntValue(product.getRhs()))
          return binary(value(product.getRhs()), "*", value(product.getLhs()));
        return binaryPosition(op, "*");
      })
      .Case<arith::IndexCastOp>([&](arith::IndexCastOp cast) { return value(cast.getIn()); })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return binaryPosition(op, "/"); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return binaryPosition(op, "%"); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return callPosition(op, "cdiv"); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return callPosition(op, "min"); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return callPosition(op, "max"); })
      .Case<arith::AndIOp>([&](auto) { return binaryPosition(op, "and"); })
      .Case<arith::OrIOp>([&](auto) { return binaryPosition(op, "or"); })
      .Case<arith::XOrIOp>([&](arith::XOrIOp both) {
        // Exclusive or with true is a negation; with another value it is an inequality.
        if (matchPattern(both.getRhs(), m_One()))
          return Expression{"not " + value(both.getLhs()).as(Precedence::Not), Precedence::Not};
        return binaryPosition(op, "!=");
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp own) { return comparison(own, own.getPredicate()); })
      .Case<arith::SelectOp>([&](arith::SelectOp choice) {
        return Expression{"if " + value(choice.getCondition()).text + " { " +
                              value(choice.getTrueValue()).text + " } else { " +
                              value(choice.getFalseValue()).text + " }",
                          Precedence::None};
      })
      .Default(unsupported);
}

// ---- Ranges -------------------------------------------------------------------------------------

/// The open range whose part `position`, `length` is; with a null position any range of this
/// length.
const TileBody::Range *TileBody::rangeOf(Value position, Value length) const {
  // Inner ranges are looked at first, since they hide outer ones.
  for (const Range &range : llvm::reverse(ranges_)) {
    if (position && range.position != position)
      continue;
    // A part as long as the step is whole, if the range has no shorter last part.
    bool isWhole = isConstant(length, getConstantIntValue(range.step).value_or(-1)) &&
                   range.lengths.empty() && position;
    if (isWhole || llvm::is_contained(range.lengths, length))
      return &range;
  }
  return nullptr;
}

/// `i.start`, `i.end`, `i.len`, where the value is that.
std::optional<Expression> TileBody::rangePart(Value value) {
  for (const Range &range : llvm::reverse(ranges_)) {
    if (range.position == value)
      // The first value of the range is where the loop is.
      return Expression{range.name + ".start"};
    if (llvm::is_contained(range.lengths, value))
      return Expression{range.name + ".len"};
    auto sum = value.getDefiningOp<arith::AddIOp>();
    if (sum && sum.getLhs() == range.position && rangeOf(range.position, sum.getRhs()))
      return Expression{range.name + ".end"};
  }
  return std::nullopt;
}

/// A length as a dimension of a type: that of a range is its name.
Expression TileBody::lengthText(Value length) {
  if (const Range *range = rangeOf({}, length))
    return {range->name};
  return value(length);
}

Expression TileBody::extentText(const ir::Extent &extent) const {
  if (extent.isConstant())
    return {std::to_string(extent.length)};
  return dimension(extent.symbol.getValue());
}

std::string TileBody::typeText(Type type, ValueRange lengths) {
  std::string text = elementText(ir::elementTypeOf(type));
  if (ir::rankOf(type) == 0)
    return text;
  std::vector<std::string> extents;
  // Lengths are given for the extents that have no number.
  size_t next = 0;
  for (const ir::Extent &extent : extentsOf(type)) {
    bool fromOperand = !extent.isConstant() && next < lengths.size();
    extents.push_back(fromOperand ? lengthText(lengths[next++]).text : extentText(extent).text);
  }
  return text + "[" + llvm::join(extents, ", ") + "]";
}

/// `a..b`, or `a:b` in an index, with a step where there is one. The end is found back where the
/// length was computed from it.
Expression TileBody::rangeText(Value offset, Value length, Value step, const char *separator) {
  bool isIndex = std::string_view(separator) == ":";
  Expression start = value(offset);
  std::optional<int64_t> first = getConstantIntValue(offset), count = getConstantIntValue(length),
                         stride = step ? getConstantIntValue(step) : 1;
  Expression end;
  auto difference = length.getDefiningOp<arith::SubIOp>();
  bool isUnit = stride == 1;
  // All constants: the end is behind the last position.
  if (first && count && stride) {
    end = {std::to_string(*first + (*count > 0 ? (*count - 1) * *stride + 1 : 0))};
  } else if (isUnit && difference && difference.getRhs() == offset) {
    // The length was made as end minus start, so the end can be read off.
    end = value(difference.getLhs());
  } else if (isUnit && first == 0) {
    end = value(length);
  } else if (isUnit) {
    end = binary(start, "+", value(length));
  } else {
    // With a step the end is behind the last position that is taken.
    Expression last = binary(binary(value(length), "-", {"1"}), "*", value(step));
    end = binary(first == 0 ? last : binary(start, "+", last), "+", {"1"});
  }
  std::string text = start.as(Precedence::Or) + separator + end.as(Precedence::Or);
  if (!isUnit)
    text += (isIndex ? ":" : " step ") + value(step).as(Precedence::Or);
  return {text, Precedence::None};
}

// ---- Boxes --------------------------------------------------------------------------------------

bool TileBody::isWholeAxis(Value base, int64_t axis, Value offset, Value length, Value step) {
  if (!isConstant(offset, 0) || (step && !isConstant(step, 1)))
    return false;
  const ir::Extent &extent = extentsOf(base.getType())[axis];
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
  if (ir::knownLength(base, static_cast<unsigned>(axis)) == length)
    return true;
  if (made && extentsOf(base.getType()).size() == 1 && isCheap(made) &&
      llvm::is_contained(made->getOperands(), length))
    return true;
  // Different values may have the same text, which is what the reader sees.
  return lengthText(length).text == extentText(extent).text;
}

/// Integers of any type may index; the compiler made `index` of them.
std::string TileBody::positionItem(Value offset) {
  Operation *op = offset.getDefiningOp();
  // The conversion to `index` is not in the source.
  if (isa_and_nonnull<ir::ConvertOp>(op) && !known_.count(offset))
    return value(op->getOperand(0)).text;
  return value(offset).text;
}

/// One range of an index: `:`, a range by its name, shifted or strided, or its ends.
std::string TileBody::item(Value base, int64_t axis, Value offset, Value length, Value step) {
  // The forms are tried from the shortest to the longest.
  if (isWholeAxis(base, axis, offset, length, step))
    return ":";
  if (const Range *range = rangeOf(offset, length); range && (!step || isConstant(step, 1)))
    return range->name;
  // An offset of the form `step * position + shift` is a range that was spread and shifted.
  auto shifted = offset.getDefiningOp<arith::AddIOp>();
  Value first = shifted ? shifted.getLhs() : offset;
  auto scaled = first.getDefiningOp<arith::MulIOp>();
  Value position = scaled ? scaled.getLhs() : first;
  const Range *range = rangeOf(position, length);
  // A spread range has the step that the slice has.
  bool sameStep = scaled ? step && scaled.getRhs() == step : !step || isConstant(step, 1);
  if (range && sameStep && range->position == position) {
    Expression text{range->name};
    if (scaled)
      text = binary(value(scaled.getRhs()), "*", text);
    if (!shifted)
      return text.text;
    if (std::optional<int64_t> by = getConstantIntValue(shifted.getRhs()); by && *by < 0)
      return binary(text, "-", {std::to_string(-*by)}).text;
    return binary(text, "+", value(shifted.getRhs())).text;
  }
  std::optional<int64_t> start = getConstantIntValue(offset), count = getConstantIntValue(length),
                         stride = step ? getConstantIntValue(step) : 1;
  const ir::Extent &extent = extentsOf(base.getType())[axis];
  // `0:6:2` and `1:6:2` are seen to be all of an axis.
  if (start && count && stride && *stride > 1 && extent.isConstant())
    // The end may reach beyond the axis, where it is cut.
    return std::to_string(*start) + ":" +
           std::to_string(std::min(extent.length, *start + *count * *stride)) + ":" +
           std::to_string(*stride);
  return rangeText(offset, length, step, ":").text;
}

std::string TileBody::Indexed::text() const {
  std::vector<std::string> texts;
  for (const Item &each : items)
    texts.push_back(each.text);
  std::string whole = base + "[" + llvm::join(texts, ", ") + "]";
  return outside.empty() ? whole : "load(" + whole + ", outside: " + outside + ")";
}

TileBody::Indexed TileBody::boxOf(Value base, OperandRange offsets, OperandRange lengths,
                                  OperandRange steps, llvm::ArrayRef<int64_t> dropped) {
  Indexed box{this->base(base), {}, ""};
  for (size_t axis = 0; axis < offsets.size(); ++axis) {
    auto number = static_cast<int64_t>(axis);
    bool isDropped = llvm::is_contained(dropped, number);
    Value step = steps.empty() ? Value() : steps[axis];
    box.items.push_back({isDropped ? positionItem(offsets[axis])
                                   : item(base, number, offsets[axis], lengths[axis], step),
                         isDropped});
  }
  return box;
}

bool TileBody::isWholeBox(Value base, OperandRange offsets, OperandRange lengths,
                          OperandRange steps, llvm::ArrayRef<int64_t> dropped) {
  if (!dropped.empty())
    return false;
  for (size_t axis = 0; axis < offsets.size(); ++axis)
    if (!isWholeAxis(base, static_cast<int64_t>(axis), offsets[axis], lengths[axis],
                     steps.empty() ? Value() : steps[axis]))
      return false;
  return true;
}

std::string TileBody::boxText(Value base, OperandRange offsets, OperandRange lengths,
                              OperandRange steps, llvm::ArrayRef<int64_t> dropped, Value scatter,
                              int64_t scatterAxis) {
  Indexed box = boxOf(base, offsets, lengths, steps, dropped);
  if (scatter)
    box.items[static_cast<size_t>(scatterAxis)].text = value(scatter).text;
  return box.text();
}

std::string TileBody::base(Value array) {
  if (auto found = known_.find(array); found != known_.end())
    return found->second.as(Precedence::Postfix);
  // An array from outside of the grid becomes known when it is asked for.
  if (std::optional<Expression> outside = foreign(array))
    if (auto found = known_.find(array); found != known_.end())
      return found->second.as(Precedence::Postfix);
  return value(array).as(Precedence::Postfix);
}

static bool isIndexing(Operation *op) {
  return op && isa<ir::SliceOp, ir::LoadOp, ir::TakeOp, ir::NewAxisOp>(op);
}

/// An index expression. Positions taken by arrays and new axes go into the brackets of the box that
/// they are of.
TileBody::Indexed TileBody::indexed(Operation *op) {
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    Indexed box = boxOf(slice.getSource(), slice.getOffsets(), slice.getLengths(), slice.getSteps(),
                        slice.getDropped());
    if (slice.getOutside())
      box.outside = operand(op, slice.getOutside()).text;
    return box;
  }
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    Indexed box = boxOf(load.getRef(), load.getOffsets(), load.getLengths(), load.getSteps(),
                        load.getDropped());
    if (load.getOutside())
      box.outside = operand(op, load.getOutside()).text;
    return box;
  }
  Value source = op->getOperand(0);
  Operation *inner = source.getDefiningOp();
  auto wholeItems = [](Value array) {
    return std::vector<Item>(static_cast<size_t>(ir::rankOf(array.getType())), Item{":"});
  };
  // The inner expression can be merged if it has no name and is written here alone.
  bool merge = isIndexing(inner) && !known_.count(source) && !foreign(source) && isInlined(inner);
  Indexed box = merge ? indexed(inner) : Indexed{base(source), {}, ""};
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
    box.items[at(axis)].text = value(take.getIndex()).text;
    return box;
  }
  // New axes are inserted in order, so that later positions count them.
  for (int64_t axis : cast<ir::NewAxisOp>(op).getAxes())
    box.items.insert(box.items.begin() + static_cast<ptrdiff_t>(at(axis)), Item{"new"});
  return box;
}

} // namespace ptl::source
