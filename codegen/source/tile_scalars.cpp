#include "codegen/source/tile_scalars.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_literals.h"
#include "ir/dialect/comparison_text.h"
#include "ir/dialect/scalar_values.h"
#include "passes/analysis/positive.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

/// How operations are written, by `ArithOp`: a text with `$` is a form, others are operators.
static constexpr std::string_view kSpellings[] = {
#define ARITH(NAME, OPERATION, OPERANDS, RULE, CPP, BINDS, PTL) PTL,
#include "ir/ops/arith_ops.def"
};

/// A constant takes its type from what it meets, if that has one.
Expression operandBeside(BodyCode &code, Value operand, Value other) {
  bool otherSays = other && !matchPattern(other, m_Constant());
  if (Operation *op = operand.getDefiningOp(); op && matchPattern(operand, m_Constant()))
    return literalText(op->getAttr("value"), operand.getType(), !otherSays);
  return valueText(code, operand);
}

/// An element of memory that is compared as a position is said to be one: else the position would
/// become what the element is.
static Expression comparedOperand(BodyCode &code, Value operand, Value other) {
  auto cast = operand.getDefiningOp<arith::IndexCastOp>();
  bool isElement = cast && operand.getType().isIndex() && cast.getIn().getDefiningOp() &&
                   !cast.getIn().getType().isInteger(64);
  return isElement ? Expression{"int(" + valueText(code, cast.getIn()).text + ")"}
                   : operandBeside(code, operand, other);
}

/// The bits of an integer as an unsigned one. In the IR of scalars it has no sign; what it was made of may have one in the source.
static Expression unsignedOperand(BodyCode &code, Value operand) {
  APInt number;
  if (matchPattern(operand, m_ConstantInt(&number)))
    return {std::to_string(number.getZExtValue())};
  auto cast = operand.getDefiningOp<UnrealizedConversionCastOp>();
  // What has a name is used by it, so that no name is left over.
  if (cast && cast.getInputs().front().getType().isUnsignedInteger() && !code.isKnown(operand))
    return valueText(code, cast.getInputs().front());
  return {"u" + std::to_string(operand.getType().getIntOrFloatBitWidth()) + "(" +
          valueText(code, operand).text + ")"};
}

Expression comparedIntegers(BodyCode &code, arith::CmpIOp op, arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  // A negative number is large when compared as an unsigned one.
  if (op.getLhs().getType().isIndex() && (predicate == P::ult || predicate == P::ule)) {
    Expression first = comparedOperand(code, op.getLhs(), {}),
               again = comparedOperand(code, op.getLhs(), {}); // both count
    return binary(
        binary(first, ">=", {"0"}), "and",
        binary(again, ir::comparisonText(predicate), comparedOperand(code, op.getRhs(), {})));
  }
  bool comparesBits =
      predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  if (comparesBits && !op.getLhs().getType().isIndex() && !op.getLhs().getType().isInteger(1))
    return binary(unsignedOperand(code, op.getLhs()), ir::comparisonText(predicate),
                  unsignedOperand(code, op.getRhs()));
  return binary(comparedOperand(code, op.getLhs(), op.getRhs()), ir::comparisonText(predicate),
                comparedOperand(code, op.getRhs(), op.getLhs()));
}

/// What is computed with the bits of integers as unsigned numbers; nothing for other operations.
static std::optional<Expression> unsignedText(BodyCode &code, Operation *op) {
  std::string type = elementText(op->getResult(0).getType());
  auto side = [&](unsigned number) { return unsignedOperand(code, op->getOperand(number)); };
  auto of = [&](const Expression &unsignedResult) {
    return Expression{type + "(" + unsignedResult.text + ")"};
  };
  auto called = [&](llvm::StringRef name) {
    return of({name.str() + "(" + side(0).text + ", " + side(1).text + ")"});
  };
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case<arith::DivUIOp>([&](auto) { return of(binary(side(0), "/", side(1))); })
      .Case<arith::RemUIOp>([&](auto) { return of(binary(side(0), "%", side(1))); })
      .Case<arith::ShRUIOp>([&](auto) { return of(binary(side(0), ">>", side(1))); })
      .Case<arith::MinUIOp>([&](auto) { return called("min"); })
      .Case<arith::MaxUIOp>([&](auto) { return called("max"); })
      .Case<arith::ExtUIOp, arith::UIToFPOp>([&](auto) { return of(side(0)); })
      .Case<arith::FPToUIOp>([&](auto cut) {
        return of({"u" + std::to_string(op->getResult(0).getType().getIntOrFloatBitWidth()) + "(" +
                   valueText(code, cut.getIn()).text + ", round: .zero)"});
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// As the scalar unit computes it; nothing for other operations.
std::optional<Expression> scalarText(BodyCode &code, Operation *op) {
  if (auto comparison = dyn_cast<arith::CmpFOp>(op))
    return binary(operandBeside(code, comparison.getLhs(), comparison.getRhs()),
                  ir::comparisonText(comparison.getPredicate()),
                  operandBeside(code, comparison.getRhs(), comparison.getLhs()));
  if (auto own = dyn_cast<arith::CmpIOp>(op))
    return comparedIntegers(code, own, own.getPredicate());
  // The same bits as a type with another sign, or without one.
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
    return Expression{elementText(cast.getResult(0).getType()) + "(" +
                      valueText(code, cast.getInputs().front()).text + ")"};
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return Expression{"if " + valueText(code, choice.getCondition()).text + " { " +
                          operandBeside(code, choice.getTrueValue(), {}).text + " } else { " +
                          operandBeside(code, choice.getFalseValue(), {}).text + " }",
                      Precedence::None};
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  // Conversions to truth values of the language ask whether any bit is set; this one keeps the last.
  if (auto cut = dyn_cast<arith::TruncIOp>(op); cut && type.isInteger(1))
    return binary(binary(valueText(code, cut.getIn()), "&", {"1"}), "!=", {"0"});
  // Other arithmetic of positions is written as dimensions are.
  // The shift of the language looks at its count, so only one that needs no look is the same in the
  // text.
  bool isOfBits = isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) ||
                  (isa<arith::ShLIOp, arith::ShRSIOp>(op) &&
                   ir::isShiftedWithin(op->getOperand(0), op->getOperand(1)));
  if (!type || (type.isIndex() && !isOfBits) || type.isInteger(1))
    return std::nullopt;
  bool isOfTruth = op->getNumOperands() == 1 && op->getOperand(0).getType().isInteger(1);
  if (!type.isIndex() && !isOfTruth)
    if (std::optional<Expression> bits = unsignedText(code, op))
      return bits;
  std::optional<ArithOp> arithmetic = ir::arithOpOf(op);
  std::string_view form = arithmetic ? kSpellings[static_cast<size_t>(*arithmetic)] : "";
  // What the language cannot spell is reported by the caller, with its place.
  if (form.empty())
    return std::nullopt;
  if (form.find('$') == std::string_view::npos)
    return binary(operandBeside(code, op->getOperand(0), op->getOperand(1)), form,
                  operandBeside(code, op->getOperand(1), op->getOperand(0)));
  std::string text;
  bool isPrefix = form.starts_with('-');
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '$') {
      text += form[i];
      continue;
    }
    char what = form[++i];
    if (what == 'T') {
      text += elementText(type);
      continue;
    }
    auto number = static_cast<unsigned>(what - '0');
    // A constant takes its type from the operand beside it, so that one is handed along.
    Value other = op->getNumOperands() > 1 ? op->getOperand(1 - number) : Value();
    text += operandBeside(code, op->getOperand(number), other)
                .as(isPrefix ? Precedence::Unary : Precedence::None);
  }
  return Expression{text, isPrefix ? Precedence::Unary : Precedence::Postfix};
}

} // namespace ptl::source
