#include "passes/analysis/formula.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

static std::string nameOfParameter(BlockArgument argument) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getType().isIntOrIndex())
    return "";
  auto name = attrs::firstOf(function, argument.getArgNumber(), attrs::dim, attrs::name);
  return name ? name.str() : "";
}

static std::string formulaOf(Value scalar, unsigned depth) {
  // The limit bounds the size of the formula, because operands that are shared are written out each
  // time.
  constexpr unsigned deepest = 8;
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return nameOfParameter(argument);
  Operation *op = scalar.getDefiningOp();
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return std::to_string(constant.getSExtValue());
  if (auto dim = dyn_cast<DimOp>(op)) {
    // The symbol of an extent is a formula already.
    const Extent &extent = extentsOf(dim.getSource().getType())[dim.getAxis()];
    return extent.isConstant() ? std::to_string(extent.length) : extent.symbol.str();
  }
  auto of = [&](unsigned operand) { return formulaOf(op->getOperand(operand), depth + 1); };
  if (depth == deepest || op->getNumOperands() == 0)
    return "";
  // Casts do not change the number.
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return of(0);
  if (op->getNumOperands() != 2)
    return "";
  // Both operands must have a formula.
  std::string a = of(0), b = of(1);
  if (a.empty() || b.empty())
    return "";
  auto call = [&](const char *name) { return name + ("(" + a + ", " + b + ")"); };
  // Parentheses everywhere make precedence irrelevant for whoever reads it back.
  auto infix = [&](const char *sign) { return "(" + a + ")" + sign + "(" + b + ")"; };
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return call("cdiv");
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    return call("min");
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return call("max");
  return isa<arith::AddIOp>(op)                                         ? infix(" + ")
         : isa<arith::SubIOp>(op)                                       ? infix(" - ")
         : isa<arith::MulIOp>(op)                                       ? infix("*")
         : isa<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(op) ? infix("/")
         : isa<arith::RemSIOp, arith::RemUIOp>(op)                      ? infix(" % ")
                                                                        : "";
}

std::string formulaOf(Value scalar) { return formulaOf(scalar, 0); }

/// The divisor `b` of `a - a / b * b`, which is how a remainder of floor division is written; null
/// for another scalar.
static Value divisorOf(arith::SubIOp rest) {
  auto product = rest.getRhs().getDefiningOp<arith::MulIOp>();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>() : nullptr;
  bool isRemainder =
      quotient && quotient.getLhs() == rest.getLhs() && quotient.getRhs() == product.getRhs();
  return isRemainder ? product.getRhs() : Value();
}

/// Whether a scalar is a length or a positive constant.
static bool isLength(Value scalar) {
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return constant.isStrictlyPositive();
  auto argument = dyn_cast<BlockArgument>(scalar);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return scalar.getDefiningOp<DimOp>() ||
         (function && attrs::dim.of(function, argument.getArgNumber()));
}

static Limits limitsOf(Value scalar, unsigned depth) {
  constexpr unsigned deepest = 4; // each level may write its operands out twice
  if (std::string formula = formulaOf(scalar); !formula.empty())
    return {formula, formula};
  Operation *op = scalar.getDefiningOp();
  if (!op || depth == deepest)
    return {};
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return limitsOf(op->getOperand(0), depth + 1);
  if (auto rest = dyn_cast<arith::SubIOp>(op))
    if (Value divisor = divisorOf(rest); divisor && isLength(divisor))
      if (std::string length = formulaOf(divisor); !length.empty())
        return {"0", "(" + length + ") - (1)"};
  if (!isa<arith::MinSIOp, arith::MaxSIOp, arith::AddIOp>(op))
    return {};
  Limits a = limitsOf(op->getOperand(0), depth + 1), b = limitsOf(op->getOperand(1), depth + 1);
  auto both = [](const std::string &before, const std::string &x, const char *between,
                 const std::string &y) {
    return x.empty() || y.empty() ? "" : before + "(" + x + between + y + ")";
  };
  // The smaller of two is at most each of them, so one known limit is enough.
  auto any = [&](const char *name, const std::string &x, const std::string &y) {
    return x.empty() || y.empty() ? x + y : both(name, x, ", ", y);
  };
  if (isa<arith::MinSIOp>(op))
    return {both("min", a.least, ", ", b.least), any("min", a.most, b.most)};
  if (isa<arith::MaxSIOp>(op))
    return {any("max", a.least, b.least), both("max", a.most, ", ", b.most)};
  return {both("", a.least, ") + (", b.least), both("", a.most, ") + (", b.most)};
}

Limits limitsOf(Value scalar) { return limitsOf(scalar, 0); }

static const char *signOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return " == ";
  case arith::CmpIPredicate::ne:
    return " != ";
  case arith::CmpIPredicate::slt:
    return " < ";
  case arith::CmpIPredicate::sle:
    return " <= ";
  case arith::CmpIPredicate::sgt:
    return " > ";
  case arith::CmpIPredicate::sge:
    return " >= ";
  default: // of numbers without sign
    return nullptr;
  }
}

std::string relationOf(Value condition) {
  Operation *op = condition.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    const char *sign = signOf(compare.getPredicate());
    std::string a = formulaOf(compare.getLhs()), b = formulaOf(compare.getRhs());
    return !sign || a.empty() || b.empty() ? "" : a + sign + b;
  }
  if (!isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return "";
  std::string a = relationOf(op->getOperand(0));
  if (a.empty())
    return "";
  // `x ^ true` is how MLIR writes a negation.
  if (isa<arith::XOrIOp>(op))
    return matchPattern(op->getOperand(1), m_One()) ? "not(" + a + ")" : "";
  // `x & true` is left over from other rewrites.
  if (isa<arith::AndIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return a;
  std::string b = relationOf(op->getOperand(1));
  return b.empty() ? "" : (isa<arith::AndIOp>(op) ? "and(" : "or(") + a + ", " + b + ")";
}

} // namespace ptl::ir
