#include "codegen/source/tile_positions.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_ranges.h"
#include "codegen/source/tile_scalars.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

Expression asPosition(Operation *op, const Expression &text) {
  auto cast = dyn_cast_or_null<arith::IndexCastOp>(op);
  bool isOther = cast && cast.getType().isIndex() && !cast.getIn().getType().isInteger(64);
  return isOther ? Expression{"int(" + text.text + ")"} : text;
}

Expression positionText(BodyCode &code, Value value) {
  Expression text = valueText(code, value);
  // What has a name, here or outside, is a position by it.
  bool isNamed = code.isKnown(value) || rangePart(code, value) || code.kind().foreign(value) ||
                 code.kind().positionText(value);
  return isNamed ? text : asPosition(value.getDefiningOp(), text);
}

static Expression binaryPosition(BodyCode &code, Operation *op, llvm::StringRef spelling) {
  return binary(positionText(code, op->getOperand(0)), spelling,
                positionText(code, op->getOperand(1)));
}

/// `min` and `max` have their operands in one order, with at most one number, which stands last:
/// the checker has one, too.
static Expression callPosition(BodyCode &code, Operation *op, llvm::StringRef name) {
  if (name == "cdiv")
    return {("cdiv(" + positionText(code, op->getOperand(0)).text + ", " +
             positionText(code, op->getOperand(1)).text + ")")};
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
    else if (made && made->getName() == op->getName() && !code.isKnown(operand) &&
             !rangePart(code, operand) && made->hasOneUse())
      work.append({made->getOperand(1), made->getOperand(0)});
    else
      operands.push_back(positionText(code, operand).text);
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

/// The `d` of `a - a / d * d`, or of the same sum with `-d`, as remainders are computed; null for
/// others.
static Value divisorOfRemainder(Operation *sum) {
  int64_t number = isa<arith::SubIOp>(sum) ? 1 : -1;
  arith::FloorDivSIOp quotient;
  llvm::SmallVector<Value> factors = {sum->getOperand(1)}, others;
  while (!factors.empty()) {
    Value factor = factors.pop_back_val();
    auto division = factor.getDefiningOp<arith::FloorDivSIOp>();
    if (auto product = factor.getDefiningOp<arith::MulIOp>())
      factors.append({product.getLhs(), product.getRhs()});
    else if (std::optional<int64_t> own = getConstantIntValue(factor))
      number *= *own;
    else if (division && !quotient && division.getLhs() == sum->getOperand(0))
      quotient = division;
    else
      others.push_back(factor);
  }
  if (!quotient)
    return {};
  Value divisor = quotient.getRhs();
  if (std::optional<int64_t> own = getConstantIntValue(divisor))
    return others.empty() && number == *own ? divisor : Value();
  return others.size() == 1 && others.front() == divisor && number == 1 ? divisor : Value();
}

Expression positionOpText(BodyCode &code, Operation *op) {
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    if (Value divisor = divisorOfRemainder(op))
      return binary(positionText(code, op->getOperand(0)), "%", positionText(code, divisor));
  auto unsupported = [&](Operation *op) {
    // Scalar operations that are no positions are written by their own rules.
    if (std::optional<Expression> own = scalarText(code, op))
      return *own;
    code.unwritable(op, "`" + op->getName().getStringRef().str() + "` has no spelling");
    return Expression{"0"};
  };
  // Of truth values these are words of the language, of positions its operators on bits.
  bool isOfBits = isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
                  !op->getResult(0).getType().isInteger(1);
  if (isOfBits)
    return unsupported(op);
  return llvm::TypeSwitch<Operation *, Expression>(op)
      .Case<ir::DimOp>([&](ir::DimOp dim) {
        return extentText(ir::extentsOf(dim.getSource().getType())[dim.getAxis()]);
      })
      .Case<arith::AddIOp>([&](arith::AddIOp sum) {
        // a + -1 * b is a subtraction in the source.
        if (Value subtracted = negated(sum.getRhs()))
          return binary(positionText(code, sum.getLhs()), "-", positionText(code, subtracted));
        if (std::optional<int64_t> addend = getConstantIntValue(sum.getRhs());
            addend && *addend < 0)
          return binary(positionText(code, sum.getLhs()), "-", {std::to_string(-*addend)});
        return binaryPosition(code, op, "+");
      })
      .Case<arith::SubIOp>([&](auto) { return binaryPosition(code, op, "-"); })
      .Case<arith::MulIOp>([&](arith::MulIOp product) {
        if (Value inner = negated(product.getResult()))
          return Expression{"-" + positionText(code, inner).as(Precedence::Unary),
                            Precedence::Unary};
        // The constant factor stands in front, as people write it.
        if (getConstantIntValue(product.getRhs()))
          return binary(positionText(code, product.getRhs()), "*",
                        positionText(code, product.getLhs()));
        return binaryPosition(code, op, "*");
      })
      .Case<arith::IndexCastOp>(
          [&](arith::IndexCastOp cast) { return valueText(code, cast.getIn()); })
      .Case<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return binaryPosition(code, op, "/"); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return binaryPosition(code, op, "%"); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return callPosition(code, op, "cdiv"); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return callPosition(code, op, "min"); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return callPosition(code, op, "max"); })
      .Case<arith::AndIOp>([&](auto) { return binaryPosition(code, op, "and"); })
      .Case<arith::OrIOp>([&](auto) { return binaryPosition(code, op, "or"); })
      .Case<arith::XOrIOp>([&](arith::XOrIOp both) {
        // Exclusive or with true is a negation; with another value it is an inequality.
        if (matchPattern(both.getRhs(), m_One()))
          return Expression{"not " + positionText(code, both.getLhs()).as(Precedence::Not),
                            Precedence::Not};
        return binaryPosition(code, op, "!=");
      })
      .Case<arith::CmpIOp>(
          [&](arith::CmpIOp own) { return comparedIntegers(code, own, own.getPredicate()); })
      .Case<arith::SelectOp>([&](arith::SelectOp choice) {
        return Expression{"if " + positionText(code, choice.getCondition()).text + " { " +
                              positionText(code, choice.getTrueValue()).text + " } else { " +
                              positionText(code, choice.getFalseValue()).text + " }",
                          Precedence::None};
      })
      .Default(unsupported);
}

} // namespace ptl::source
