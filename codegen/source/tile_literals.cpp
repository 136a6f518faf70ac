#include "codegen/source/tile_literals.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "ir/dialect/attributes.h"
#include "ir/ops/op_table.h"
#include "passes/analysis/op_info.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"

using namespace mlir;

namespace ptl::source {

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
Expression literalText(Attribute attribute, Type type, bool typed) {
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

std::string defaultText(const EntryFacts &facts, const std::string &parameter, Type type) {
  auto found = facts.defaults.find(parameter);
  if (found == facts.defaults.end())
    return "";
  const ConstantValue &value = found->second;
  Type elem = ir::elementTypeOf(type);
  Builder b(type.getContext());
  Attribute number;
  if (isa<FloatType>(elem))
    number = b.getFloatAttr(elem, value.isReal ? value.real : static_cast<double>(value.whole));
  else
    number = b.getIntegerAttr(elem, value.isReal ? static_cast<int64_t>(value.real) : value.whole);
  return " = " + literalText(number, elem, /*typed=*/false).text;
}

Attribute constantAttribute(Value value) {
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
Expression operandText(BodyCode &code, Operation *op, Value operand) {
  bool othersSay = isSaidByOthers(op, operand);
  // A literal that has a name is used by that name.
  if (Attribute attribute = constantAttribute(operand); attribute && !code.isKnown(operand))
    return literalText(attribute, operand.getType(), !othersSay);
  Operation *made = operand.getDefiningOp();
  if (Value position = implicitPosition(made); position && othersSay)
    return valueText(code, position);
  // A number that was converted from a position is a literal.
  bool isConverted =
      isa_and_nonnull<ir::ConvertOp>(made) && othersSay && made->getOperand(0).getType().isIndex();
  if (Attribute number = isConverted ? constantAttribute(made->getOperand(0)) : Attribute())
    return literalText(number, made->getOperand(0).getType(), false);
  return valueText(code, operand);
}

} // namespace ptl::source
