// Expressions: literals, built-ins by their records, index expressions.
#include "codegen/source/tile_body.h"
#include "ir/dialect/attributes.h"

#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

using namespace mlir;

namespace ptl::source {

// ---- Literals -----------------------------------------------------------------------------------

/// The shortest decimal number that is this value in its type.
static std::string floatText(const llvm::APFloat &value) {
  if (value.isNaN())
    return "nan";
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  bool inexact = false;
  llvm::APFloat wide = value;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  std::string text;
  // 17 digits tell all doubles apart, so the loop ends with the right number in any case.
  for (int digits = 1; digits <= 17; ++digits) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, wide.convertToDouble());
    text = buffer;
    // Parsing rounds to the value's own type, in which fewer digits may do.
    llvm::APFloat again(value.getSemantics());
    auto status = again.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
    if (status && again.bitwiseIsEqual(value))
      break;
    llvm::consumeError(status.takeError());
  }
  size_t exponent = text.find('e');
  if (exponent == text.npos)
    // A number without a point would be an integer.
    return text.find('.') == text.npos ? text + ".0" : text;
  // The exponent is printed without a sign `+` and leading zeros.
  int power = std::atoi(text.c_str() + exponent + 1);
  return text.substr(0, exponent) + "e" + std::to_string(power);
}

/// `typed`: where nothing else says the type, a conversion does.
Expression TileBody::literal(Attribute attribute, Type type, bool typed) {
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    std::string text = floatText(number.getValue());
    // `f32` is the default type of literals.
    if (typed && !type.isF32())
      return {elementText(type) + "(" + text + ")"};
    return {text, text[0] == '-' ? Precedence::Unary : Precedence::Postfix};
  }
  auto number = dyn_cast<IntegerAttr>(attribute);
  if (!number)
    return {"0"};
  // Only truth values have one bit.
  if (type.isInteger(1))
    return {number.getValue().isZero() ? "false" : "true"};
  llvm::SmallString<24> text;
  number.getValue().toString(text, 10, !type.isUnsignedInteger());
  if (typed && !type.isIndex())
    return {elementText(type) + "(" + text.str().str() + ")"};
  return {text.str().str(), text[0] == '-' ? Precedence::Unary : Precedence::Postfix};
}

static Attribute constantAttribute(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    return constant.getValue();
  if (auto constant = dyn_cast_or_null<ir::ConstantOp>(op))
    return constant.getValue();
  return {};
}

/// An implicit conversion of a position, which the checker makes again: it is the one whose range
/// is checked.
static Value implicitPosition(Operation *op) {
  if (!isa_and_nonnull<ir::ConvertOp>(op) || !op->getOperand(0).getType().isIndex())
    return {};
  // Other conversions of positions are the author's, who wrote them.
  return attrs::rangeChecked.isOn(op) ? op->getOperand(0) : Value();
}

void noteConversions(ir::CheckOp check) {
  // The builder checks the range of exactly those conversions that it adds itself.
  if (check.getStatus() != "arithmetic")
    return;
  for (Value value : check.getValues())
    for (Operation *user : value.getUsers())
      if (isa<ir::ConvertOp>(user) && user->getOperand(0) == value)
        attrs::rangeChecked.set(user);
}

/// Whether another operand of an operation says of which type a literal or a position is.
static bool isSaidByOthers(Operation *op, Value operand) {
  return llvm::any_of(op->getOperands(), [&](Value other) {
    // An operand that takes its own type from others says nothing.
    return other != operand && !constantAttribute(other) &&
           !implicitPosition(other.getDefiningOp()) &&
           ir::elementTypeOf(other.getType()) == operand.getType();
  });
}

bool needsTypedName(Operation *op) {
  // A position that is converted at several uses, of which one does not say the type, gets a name
  // with a type.
  return implicitPosition(op) && ir::rankOf(op->getResult(0).getType()) == 0 &&
         !llvm::all_of(op->getUsers(), [&](Operation *user) {
           const OpRecord *record = ir::recordOf(user);
           return record && record->id != OpId::Full && isSaidByOthers(user, op->getResult(0));
         });
}

/// An operand of a built-in: a literal takes its type from another operand where it can.
Expression TileBody::operand(Operation *op, Value operand) {
  bool othersSay = isSaidByOthers(op, operand);
  // A literal that has a name is used by that name.
  if (Attribute attribute = constantAttribute(operand); attribute && !known_.count(operand))
    return literal(attribute, operand.getType(), !othersSay);
  Operation *made = operand.getDefiningOp();
  if (Value position = implicitPosition(made); position && othersSay)
    return value(position);
  // A number that was converted from a position is a literal.
  bool isConverted =
      isa_and_nonnull<ir::ConvertOp>(made) && othersSay && made->getOperand(0).getType().isIndex();
  if (Attribute number = isConverted ? constantAttribute(made->getOperand(0)) : Attribute())
    return literal(number, made->getOperand(0).getType(), false);
  return value(operand);
}

// ---- Built-ins ----------------------------------------------------------------------------------

/// The operands of each parameter that has some. What may have several takes what the others leave.
static std::vector<ValueRange> operandsByParam(Operation *op, const OpRecord &record) {
  std::vector<ValueRange> result(record.params.size());
  llvm::ArrayRef<int32_t> segments;
  // Operations with several variable parameters note how many operands each has; for others it
  // follows from the number of operands.
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"))
    segments = sizes;
  else if (op->getPropertiesStorage())
    if (auto sizes = dyn_cast_or_null<DenseI32ArrayAttr>(
            op->getInherentAttr("operandSegmentSizes").value_or(Attribute())))
      segments = sizes;
  auto hasOperands = [](const OpParam &param) {
    return param.kind == ParamKind::Value || param.kind == ParamKind::Dims ||
           param.kind == ParamKind::ArrayType || param.kind == ParamKind::Dim;
  };
  auto isSingle = [](const OpParam &param) {
    return param.kind == ParamKind::Value && !param.variadic && !param.optional;
  };
  unsigned singles = 0;
  for (const OpParam &param : record.params)
    singles += hasOperands(param) && isSingle(param);
  size_t segment = 0, next = 0;
  for (size_t i = 0; i < record.params.size(); ++i) {
    const OpParam &param = record.params[i];
    if (!hasOperands(param))
      continue;
    // At most one parameter may take several operands, so it gets what is left.
    size_t count = !segments.empty() ? static_cast<size_t>(segments[segment++])
                   : isSingle(param) ? 1
                                     : op->getNumOperands() - singles;
    result[i] =
        ValueRange(op->getOperands()).slice(next, std::min(count, op->getNumOperands() - next));
    next += count;
  }
  return result;
}

std::string TileBody::axes(Operation *op, const OpParam &param) {
  if (auto one = op->getAttrOfType<IntegerAttr>("axis")) {
    // The default is left out; it is written `-1` and stored as the last axis.
    bool isLast = one.getInt() == ir::rankOf(op->getOperand(0).getType()) - 1;
    return param.defaultText == "-1" && isLast ? "" : std::to_string(one.getInt());
  }
  auto list = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  if (!list)
    return "";
  if (list.size() == 1 && param.keywordOnly)
    return std::to_string(list[0]);
  std::vector<std::string> texts;
  for (int64_t axis : list.asArrayRef())
    texts.push_back(std::to_string(axis));
  return "[" + llvm::join(texts, ", ") + "]";
}

static std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text)
    result += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
  return result + "\"";
}

/// The text of one argument without its name; empty: it is left out.
std::string TileBody::argument(Operation *op, const OpRecord &record, size_t number,
                               ValueRange operands) {
  const OpParam &param = record.params[number];
  Attribute attribute = op->getAttr(param.name);
  auto unless = [&](const std::string &text) { return text == param.defaultText ? "" : text; };
  switch (param.kind) {
  case ParamKind::Value: {
    // `full` takes the type of its value from its own type.
    std::vector<std::string> texts;
    for (Value each : operands)
      texts.push_back(record.id == OpId::Full && constantAttribute(each)
                          ? literal(constantAttribute(each), each.getType(), false).text
                          : operand(op, each).text);
    return llvm::join(texts, ", ");
  }
  case ParamKind::Axis:
  case ParamKind::Axes:
    return axes(op, param);
  case ParamKind::BoolConst:
    return attribute ? unless(cast<BoolAttr>(attribute).getValue() ? "true" : "false") : "";
  case ParamKind::IntConst:
    return attribute ? unless(std::to_string(cast<IntegerAttr>(attribute).getInt())) : "";
  case ParamKind::Enum:
    return attribute ? unless("." + cast<StringAttr>(attribute).str()) : "";
  case ParamKind::Text:
    return attribute ? quoted(cast<StringAttr>(attribute).getValue()) : "";
  case ParamKind::ArrayType:
    return typeText(op->getResult(0).getType(), operands);
  // Margins are values and no lengths.
  case ParamKind::Dims: {
    if (record.id == OpId::Pad) {
      std::vector<std::string> texts;
      for (Value each : operands)
        texts.push_back(value(each).text);
      return texts.empty() ? "" : "[" + llvm::join(texts, ", ") + "]";
    }
    // The lengths stand in the type, whose element type is not written here.
    std::string type = typeText(op->getResult(0).getType(), operands);
    return type.substr(type.find('['));
  }
  case ParamKind::Dim: {
    const ir::Extent &extent = ir::extentsOf(op->getResult(0).getType()).back();
    return operands.empty() ? extentText(extent).text : lengthText(operands[0]).text;
  }
  case ParamKind::ElemType:
    return unless(elementText(ir::elementTypeOf(op->getResult(0).getType())));
  case ParamKind::Range:
  case ParamKind::Region:
  case ParamKind::Function:
    break;
  }
  return "";
}

static bool isLastSwap(Operation *op) {
  // `.T` swaps the last two axes and nothing else.
  auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  if (!axes || axes.size() < 2)
    return false;
  auto last = static_cast<int64_t>(axes.size()) - 1;
  for (int64_t i = 0; i < last - 1; ++i)
    if (axes[i] != i)
      return false;
  return axes[last] == last - 1 && axes[last - 1] == last;
}

Expression TileBody::conversion(Operation *op) {
  Type from = ir::elementTypeOf(op->getOperand(0).getType()),
       to = ir::elementTypeOf(op->getResult(0).getType());
  std::string round = op->getAttrOfType<StringAttr>("round").str();
  bool saturate = op->getAttrOfType<BoolAttr>("saturate").getValue();
  bool roundsToInteger = isa<FloatType>(from) && isa<IntegerType>(to) && !to.isInteger(1);
  std::string text = elementText(to) + "(" + value(op->getOperand(0)).text;
  if (round != "even" || roundsToInteger)
    text += ", round: ." + round;
  return {text + (saturate ? ", saturate: true)" : ")")};
}

/// `index(r)`: its operands are the start and, unless it is a number, the length.
Expression TileBody::creationIndex(Operation *op) {
  // A length that is not constant is the second operand.
  Value start = op->getOperand(0);
  if (op->getNumOperands() > 1) {
    Value length = op->getOperand(1);
    const Range *range = rangeOf(start, length);
    return {"index(" + (range ? range->name : rangeText(start, length, {}, "..").text) + ")"};
  }
  // A constant length may be that of a range whose tiles are all whole.
  int64_t length = ir::extentsOf(op->getResult(0).getType())[0].length;
  for (const Range &range : ranges_)
    if (range.position == start && range.lengths.empty() &&
        getConstantIntValue(range.step) == length)
      return {"index(" + range.name + ")"};
  Expression first = value(start), count{std::to_string(length)};
  std::optional<int64_t> number = getConstantIntValue(start);
  // A sum of numbers is computed, which reads better.
  Expression end =
      number ? Expression{std::to_string(*number + length)} : binary(first, "+", count);
  return {"index(" + first.as(Precedence::Or) + ".." + end.as(Precedence::Or) + ")"};
}

Expression TileBody::builtin(Operation *op, const OpRecord &record) {
  if (record.id == OpId::Index)
    return creationIndex(op);
  if (record.id == OpId::Convert)
    return conversion(op);
  if (record.id == OpId::Transpose && isLastSwap(op))
    return {value(op->getOperand(0)).as(Precedence::Postfix) + ".T"};
  std::vector<ValueRange> operands = operandsByParam(op, record);
  size_t values = 0;
  for (const ValueRange &each : operands)
    values += each.size();
  bool hasOptions = false;
  // An operator with options cannot be written infix.
  for (size_t i = 0; i < record.params.size(); ++i)
    hasOptions |= record.params[i].keywordOnly && !argument(op, record, i, operands[i]).empty();
  if (record.isOperator && values == 2 && !hasOptions)
    return binary(operand(op, op->getOperand(0)), record.name, operand(op, op->getOperand(1)));
  if (record.isOperator && values == 1) {
    bool isWord = record.name == "not";
    Precedence bind = isWord ? Precedence::Not : Precedence::Unary;
    return {std::string(record.name) + (isWord ? " " : "") + value(op->getOperand(0)).as(bind),
            bind};
  }
  // Operators have names as functions for this case.
  std::string_view name = record.name;
  for (std::string_view alias : record.aliases)
    if (record.isOperator && isIdentifier(alias))
      name = alias;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < record.params.size(); ++i) {
    // What is left out has its default.
    std::string text = argument(op, record, i, operands[i]);
    if (!text.empty())
      arguments.push_back(
          (record.params[i].keywordOnly ? std::string(record.params[i].name) + ": " : "") + text);
  }
  return {std::string(name) + "(" + llvm::join(arguments, ", ") + ")"};
}

// ---- Values -------------------------------------------------------------------------------------

/// `a and b`, which computes `b` only where it matters, or a branch as a value.
Expression TileBody::conditional(scf::IfOp branch) {
  auto resultOf = [](Region &region) { return region.front().getTerminator()->getOperand(0); };
  Value whole = resultOf(branch.getThenRegion()), other = resultOf(branch.getElseRegion());
  auto isBool = [](Value value, int64_t expected) {
    return value.getType().isInteger(1) && getConstantIntValue(value) == expected;
  };
  // `if a { b } else { false }`: `b` is computed only if `a` holds.
  if (isBool(other, 0))
    return binary(value(branch.getCondition()), "and", value(whole));
  if (isBool(whole, -1))
    return binary(value(branch.getCondition()), "or", value(other));
  auto arm = [&](Value result) { return "{ " + value(result).text + " }"; };
  return {"if " + value(branch.getCondition()).text + " " + arm(whole) + " else " + arm(other),
          Precedence::None};
}

Expression TileBody::expressionOf(Operation *op, unsigned result) {
  // The locations of parts make the origin of the statement that they end up in.
  parts_.push_back(op->getLoc());
  if (Attribute constant = constantAttribute(op->getResult(0)))
    return literal(constant, op->getResult(0).getType(), true);
  if (std::optional<Expression> own = written(op))
    return *own;
  if (isPositionOp(op))
    return position(op);
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    // In a kernel an array in global memory must be loaded by indexing.
    bool isPlain = !slice.getOutside() && (!inKernel_ || !globals_.count(slice.getSource()));
    if (isPlain && isWholeBox(slice.getSource(), slice.getOffsets(), slice.getLengths(),
                              slice.getSteps(), slice.getDropped()))
      return value(slice.getSource());
    return {indexed(op).text()};
  }
  if (auto load = dyn_cast<ir::LoadOp>(op)) {
    if (!inKernel_ && !load.getOutside() &&
        isWholeBox(load.getRef(), load.getOffsets(), load.getLengths(), load.getSteps(),
                   load.getDropped()))
      return {base(load.getRef())};
    return {indexed(op).text()};
  }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() == 1)
    return conditional(branch);
  if (isa<ir::TakeOp, ir::NewAxisOp>(op))
    return {indexed(op).text()};
  // Casts change a type and have no text.
  if (isTransparent(op) || isa<ir::CastOp>(op))
    return value(op->getOperand(0));
  if (const OpRecord *record = ir::recordOf(op))
    return builtin(op, *record);
  if (std::optional<Expression> own = scalar(op))
    return *own;
  // The text must stay well formed, so that the rest can be printed.
  unwritable_(op, "`" + op->getName().getStringRef().str() + "` has no spelling");
  return {"0"};
}

Expression TileBody::value(Value value) {
  auto whole = [&](const Expression &name) -> Expression {
    if (!inKernel_ || !globals_.count(value))
      return name;
    std::vector<std::string> axes(static_cast<size_t>(ir::rankOf(value.getType())), ":");
    return {name.text + "[" + llvm::join(axes, ", ") + "]"};
  };
  if (auto found = known_.find(value); found != known_.end())
    return whole(found->second);
  // A position that a range stands for is written with the range's name.
  if (std::optional<Expression> part = rangePart(value))
    return *part;
  if (std::optional<Expression> outside = foreign(value))
    return whole(*outside);
  Operation *op = value.getDefiningOp();
  if (!op || isPositionOp(op))
    if (std::optional<Expression> own = positionText(value))
      return *own;
  if (!op) {
    unwritable_(cast<BlockArgument>(value).getOwner()->getParentOp(), "a value has no name");
    return {"0"};
  }
  // In the first run each position is visited once, and only counted from then on.
  if (isPositionOp(op) && !isa<ir::DimOp>(op) && counting_ && counts_[op]++ > 0)
    return {"n"};
  Expression expression = expressionOf(op, cast<OpResult>(value).getResultNumber());
  // A long position that is used often gets a name before the kernel's grid, if it can be computed
  // there.
  bool often =
      !counting_ && isPositionOp(op) && counts_[op] > 1 && weightOf(expression.text) > kShort;
  if (std::string *prologue = often ? prologueFor(op) : nullptr) {
    auto hint = hints_.find(op);
    std::string name = names_.fresh(hint != hints_.end() ? hint->second : positionName(value));
    *prologue += withOrigin("let " + name + " = " + expression.text, op->getLoc()) + "\n";
    know(value, name);
    return {name};
  }
  return expression;
}

/// A name for a value that needs one: its own, or after what it is a part of, or what made it.
std::string TileBody::nameFor(Value value) const {
  Operation *op = value.getDefiningOp();
  std::string own = block::nameOf(value.getLoc()), base;
  if (op && isa<ir::SliceOp, ir::LoadOp, ir::TakeOp, ir::NewAxisOp, ir::CastOp>(op)) {
    auto known = known_.find(op->getOperand(0));
    base = known != known_.end() ? known->second.text : nameFor(op->getOperand(0));
  }
  // The name of the whole would be misleading for a part of it.
  if (isIdentifier(own) && own != base)
    return own;
  if (!op)
    return "x";
  if (!base.empty())
    return isIdentifier(base) ? base + "_tile" : "t";
  llvm::StringRef mnemonic = op->getName().stripDialect();
  mnemonic.consume_front("reduce_");
  return isIdentifier(mnemonic.str()) ? mnemonic.str() : "t";
}

} // namespace ptl::source
