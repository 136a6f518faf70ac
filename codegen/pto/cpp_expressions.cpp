#include "codegen/pto/cpp_expressions.h"

#include "ir/dialect/comparison_text.h"
#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/scalar_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::pto {

namespace {

CppExpression constantExpression(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (value.getType().isInteger(1))
      return {integer.getValue().isZero() ? "false" : "true"};
    bool isUnsigned = value.getType().isUnsignedInteger();
    if (isUnsigned && integer.getValue().isNegative()) // beyond the signed type of as many bits
      return {std::to_string(integer.getValue().getZExtValue()) + "u"};
    int64_t number = integer.getValue().getSExtValue();
    // Literals of C++ have no sign. The digits of the least number fit no signed type of its width,
    // so the literal would have a wider or an unsigned type, and so would what is computed with it.
    if (integer.getValue().isMinSignedValue() && integer.getValue().getBitWidth() >= 32)
      return {std::to_string(number + 1) + " - 1", Precedence::Sum};
    return {std::to_string(number), number < 0 ? Precedence::Unary : Precedence::Primary};
  }
  auto real = dyn_cast<FloatAttr>(value);
  if (!real)
    return {"0"};
  llvm::APFloat number = real.getValue();
  bool negative = number.isNegative();
  std::string text;
  if (number.isInfinity() || number.isNaN()) {
    // The macros for these would need a header of the host.
    text = number.isNaN() ? "__builtin_nanf(\"\")" : "__builtin_inff()";
  } else {
    llvm::SmallString<32> digits;
    // Without a limit on the digits the number is read back exactly.
    llvm::abs(number).toString(digits, /*FormatPrecision=*/0, /*FormatMaxPadding=*/12);
    text = digits.str().str();
    // A number without point and exponent would be an integer.
    if (text.find_first_of(".E") == std::string::npos)
      text += ".0";
    if (!value.getType().isF64())
      text += "f";
  }
  if (negative)
    text = "-" + text;
  // Types shorter than `f32` have no literals.
  if (value.getType().isF32() || value.getType().isF64())
    return {text, negative ? Precedence::Unary : Precedence::Primary};
  return {cppElement(value.getType()) + "(" + text + ")"};
}

/// How an operation is written: a text with `$` is a form, others are operators.
struct CppScalarRow {
  llvm::StringRef text;
  Precedence precedence = Precedence::Primary;
  bool isUnsigned = false; ///< an operator on unsigned numbers
};

enum class Rule : uint8_t { Int, Unsigned, Float, Cast };

/// By `ArithOp`.
constexpr CppScalarRow arithRows[] = {
#define ARITH(NAME, OPERATION, OPERANDS, RULE, CPP, BINDS, PTL)                                    \
  {CPP, Precedence::BINDS, Rule::RULE == Rule::Unsigned},
#include "ir/ops/arith_ops.def"
};

/// Arithmetic, or a built-in that only hosts compute: the scalar unit of a core has none. Its text is
/// empty for what has no spelling.
CppScalarRow scalarRowOf(Operation *op) {
  if (std::optional<ArithOp> arithmetic = ir::arithOpOf(op))
    return arithRows[static_cast<size_t>(*arithmetic)];
  const OpLowering *lowering = ir::loweringOf(op);
  return lowering ? CppScalarRow{{lowering->hostCpp.data(), lowering->hostCpp.size()}}
                  : CppScalarRow();
}

/// Whether the value of an expression may be outside of the type of its operation. C++ computes short
/// integers as `int`, which does not wrap as they do, and what goes by unsigned operands is unsigned;
/// so go sums and products of long integers, since those of C++ may not overflow.
bool mayLeaveType(Operation *op) {
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  std::optional<ArithOp> arithmetic = ir::arithOpOf(op);
  if (!type || type.getWidth() == 1 || !arithmetic)
    return false;
  switch (*arithmetic) {
  case ArithOp::AddI:
  case ArithOp::SubI:
  case ArithOp::MulI:
  case ArithOp::ShlI:
    return true;
  case ArithOp::DivSI: // of the least number by -1
  case ArithOp::CeilDivSI:
  case ArithOp::FloorDivSI:
  case ArithOp::AbsI:
    return type.getWidth() < 32;
  case ArithOp::DivUI:
  case ArithOp::RemUI:
  case ArithOp::ShrUI:
    return true;
  default:
    return false;
  }
}

/// Whether an operation of long integers is computed with unsigned numbers because it may overflow.
/// Positions and sizes do not come near their ends.
bool wrapsUnsigned(Operation *op) {
  auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  return type && type.getWidth() >= 32 &&
         isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op);
}

/// An operand of a conversion to as many bits or fewer, which brings any number into its range.
CppExpression convertedOperand(CppCode &code, Value value) {
  Operation *op = value.getDefiningOp();
  return op && isInlined(op) ? operationExpression(code, op)
                             : CppExpression{code.names().of(value)};
}

/// An operand of what computes with unsigned numbers.
std::string unsignedOperand(CppCode &code, Value value) {
  return "u" + cppElement(value.getType()) + "(" + convertedOperand(code, value).text + ")";
}

/// One step tighter, for the right operand of `-`, `/` and the like.
Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<uint8_t>(precedence) - 1);
}

CppExpression comparison(CppCode &code, Operation *op, llvm::StringRef sign, bool isUnsigned) {
  bool equality = sign == "==" || sign == "!=";
  auto side = [&](Value value) {
    llvm::APInt known;
    CppExpression side = expression(code, value);
    // A negative number counts as larger than every bound; C++ would compare it with its sign.
    if (isUnsigned && !(matchPattern(value, m_ConstantInt(&known)) && known.isNonNegative()))
      return unsignedOperand(code, value);
    return side.within(Precedence::Shift);
  };
  return {side(op->getOperand(0)) + " " + sign.str() + " " + side(op->getOperand(1)),
          equality ? Precedence::Equality : Precedence::Relation};
}

/// A division on the host, whose processor may stop the program at a divisor of 0, and at -1 where
/// the quotient does not fit; cores of chips do not stop. By the language it has some value.
std::optional<CppExpression> hostDivision(CppCode &code, Operation *op, const CppScalarRow &row) {
  llvm::APInt known;
  bool isLegal = matchPattern(op->getOperand(1), m_ConstantInt(&known)) && !known.isZero() &&
                 !known.isAllOnes();
  bool isDivision = row.text == "/" || row.text == "%";
  if (!code.extension() || !isDivision || !op->getResult(0).getType().isIntOrIndex() || isLegal)
    return std::nullopt;
  const char *helper = row.text == "/" ? "quotientOf" : "remainderOf";
  code.useHelper(helper);
  bool isUnsigned = row.isUnsigned && !op->getResult(0).getType().isIndex();
  auto side = [&](unsigned i) {
    return isUnsigned ? unsignedOperand(code, op->getOperand(i)) : textOf(code, op->getOperand(i));
  };
  return CppExpression{std::string(helper) + "(" + side(0) + ", " + side(1) + ")"};
}

CppExpression binaryExpression(CppCode &code, Operation *op, const CppScalarRow &row) {
  if (std::optional<CppExpression> division = hostDivision(code, op, row))
    return *division;
  Type type = op->getResult(0).getType();
  if (wrapsUnsigned(op)) {
    Operation *left = op->getOperand(0).getDefiningOp();
    // What is unsigned already needs no conversion.
    bool isUnsigned = left && isInlined(left) && wrapsUnsigned(left);
    return {(isUnsigned ? convertedOperand(code, op->getOperand(0)).within(row.precedence)
                        : unsignedOperand(code, op->getOperand(0))) +
                " " + row.text.str() + " " +
                convertedOperand(code, op->getOperand(1)).within(tighter(row.precedence)),
            row.precedence};
  }
  if (row.isUnsigned && !type.isIndex()) // positions and sizes are not negative
    return {unsignedOperand(code, op->getOperand(0)) + " " + row.text.str() + " " +
                unsignedOperand(code, op->getOperand(1)),
            row.precedence};
  CppExpression a = expression(code, op->getOperand(0)), b = expression(code, op->getOperand(1));
  bool logical = type.isInteger(1);
  std::string sign = row.text.str();
  // Truth values have the short-circuit operators, whose operands have no effects.
  if (logical && (sign == "&" || sign == "|"))
    sign += sign;
  // Bits beside comparisons are read wrongly without parentheses.
  Precedence left = row.precedence >= Precedence::BitAnd ? Precedence::Shift : row.precedence;
  if (logical)
    left = Precedence::Equality;
  Precedence right = logical                                ? left
                     : row.precedence >= Precedence::BitAnd ? left
                                                            : tighter(row.precedence);
  bool chain = sign == "+" || sign == "*"; // a + (b + c) is a + b + c for whole numbers
  // The right operand of a chain needs no parentheses. Floats are not associative, so theirs stay.
  if (chain && type.isIntOrIndex())
    right = row.precedence;
  // `a * (b / c)` is not `a * b / c` for whole numbers.
  if (sign == "*" && b.precedence == Precedence::Product)
    right = tighter(Precedence::Product);
  return {a.within(left) + " " + sign + " " + b.within(right), row.precedence};
}

/// Whether the operand that ends at `end` in a form is a whole argument: what stands between
/// parentheses and commas cannot fall apart, whatever it is.
bool standsApart(llvm::StringRef form, size_t end) {
  llvm::StringRef before = form.take_front(end - 1).rtrim(),
                  behind = form.drop_front(end + 1).ltrim();
  return (before.ends_with("(") || before.ends_with(",")) &&
         (behind.starts_with(")") || behind.starts_with(","));
}

/// How tightly an operand beside operators of a form has to hold together. A sign takes nothing
/// with a sign of its own either: `--x` would be another operator.
Precedence operandOf(const CppScalarRow &row) {
  return row.precedence == Precedence::Conditional ? Precedence::BitOr : Precedence::Primary;
}

CppExpression formExpression(CppCode &code, Operation *op, const CppScalarRow &row) {
  std::string form;
  for (size_t i = 0; i < row.text.size(); ++i) {
    if (row.text[i] != '$') {
      form += row.text[i];
      continue;
    }
    char what = row.text[++i];
    bool isUnsigned = what == 'u';
    // `$u` is an operand as an unsigned number.
    if (isUnsigned)
      what = row.text[++i];
    if (what == 'T') {
      form += cppElement(op->getResult(0).getType());
    } else if (Value number = op->getOperand(static_cast<unsigned>(what - '0'));
               isUnsigned && number.getType().isSignlessInteger() &&
               !number.getType().isInteger(1)) {
      form += unsignedOperand(code, number);
    } else {
      Value value = op->getOperand(static_cast<unsigned>(what - '0'));
      CppExpression operand = isa<arith::TruncIOp, UnrealizedConversionCastOp>(op)
                                  ? convertedOperand(code, value)
                                  : expression(code, value);
      bool isApart = standsApart(row.text, i);
      form += isApart ? operand.text : operand.within(operandOf(row));
    }
  }
  for (const char *helper : {"smaller", "larger", "ceilDiv", "floorDiv", "saturated"})
    if (row.text.contains(helper))
      code.useHelper(helper);
  // The helpers return the unsigned type.
  if (isa<arith::MinUIOp, arith::MaxUIOp>(op) && !op->getResult(0).getType().isIndex())
    form = cppElement(op->getResult(0).getType()) + "(" + form + ")";
  return {form, row.precedence};
}

} // namespace

/// Whether an operation never has a variable: its text is no longer than a name.
static bool isShort(Operation *op) {
  // The constants are texts that depend on nothing.
  if (isa<arith::ConstantOp, ir::ConstantOp, ReserveBufferOp, ImportReservedBufferOp, AddPtrOp,
          ir::DimOp>(op))
    return true;
  auto cast = dyn_cast<arith::IndexCastOp>(op); // integers of 64 bits are what indices are
  return cast && !cast.getIn().getType().isInteger(32) && !cast.getType().isInteger(32);
}

/// Whether an operation needs no variable as far as its own value is concerned.
static bool needsNoVariable(Operation *op) {
  if (isShort(op))
    return true;
  if (isa<ir::LoadOp, ir::SliceOp>(op)) // of the host: reads memory of the device
    return false;
  bool scalar = op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                op->getResult(0).getType().isIntOrIndexOrFloat();
  if (!scalar)
    return false;
  // Such a call has a cost, and its value is the same throughout.
  if (isa<GetBlockIdxOp, GetBlockNumOp, GetSubBlockIdxOp, GetSubBlockNumOp>(op))
    return false;
  bool named = isa<NameLoc>(op->getLoc());
  // A name from the source makes code readable, so it is kept.
  return op->getResult(0).hasOneUse() && !named;
}

/// How many operations stand within each other in the text of an operation, down to variables; 0 for
/// one that has a variable itself, since they would be too many.
static unsigned nestingOf(Operation *op) {
  /// Deeper expressions are hard to read, and breaking them into lines takes the formatter seconds.
  constexpr unsigned kMost = 8;
  if (!needsNoVariable(op))
    return 0;
  unsigned nesting = 0;
  for (Value operand : op->getOperands())
    if (Operation *inner = operand.getDefiningOp())
      nesting = std::max(nesting, nestingOf(inner));
  if (!isShort(op))
    ++nesting;
  return nesting < kMost ? nesting : 0;
}

bool isInlined(Operation *op) { return isShort(op) || (needsNoVariable(op) && nestingOf(op) > 0); }

CppExpression expression(CppCode &code, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isInlined(op))
    return {code.names().of(value)};
  CppExpression made = operationExpression(code, op);
  // The type of a variable would bring it back into its range.
  return mayLeaveType(op) ? CppExpression{cppElement(value.getType()) + "(" + made.text + ")"}
                          : made;
}

std::string textOf(CppCode &code, Value value) { return expression(code, value).text; }

CppExpression operationExpression(CppCode &code, Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return constantExpression(constant.getValue());
  if (auto constant = dyn_cast<ir::ConstantOp>(op))
    return constantExpression(constant.getValue());
  if (auto add = dyn_cast<AddPtrOp>(op))
    return {expression(code, add.getPointer()).within(Precedence::Sum) + " + " +
                expression(code, add.getOffset()).within(Precedence::Product),
            Precedence::Sum};
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    // Indices and integers of 64 bits are one type in C++.
    CppExpression inner = expression(code, cast.getIn());
    return isInlined(op) && !cast.getType().isInteger(32) && !cast.getIn().getType().isInteger(32)
               ? inner
               : CppExpression{cppElement(cast.getType()) + "(" + inner.text + ")"};
  }
  // The last bit decides, where a conversion in C++ would ask whether any is set.
  if (auto cut = dyn_cast<arith::TruncIOp>(op); cut && cut.getType().isInteger(1))
    return {"(" + expression(code, cut.getIn()).within(Precedence::Shift) + " & 1) != 0",
            Precedence::Equality};
  if (auto buffer = dyn_cast<ReserveBufferOp>(op))
    return {std::to_string(buffer.getBase().value_or(0))};
  // The address is that of the reservation in the function of the other core.
  if (auto buffer = dyn_cast<ImportReservedBufferOp>(op)) {
    auto peer = op->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(buffer.getPeerFunc());
    int64_t base = 0;
    if (peer)
      peer.walk([&](ReserveBufferOp made) {
        if (made.getName() == buffer.getName())
          base = made.getBase().value_or(0);
      });
    return {std::to_string(base)};
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return comparison(code, op, ir::comparisonText(compare.getPredicate()),
                      ir::isUnsigned(compare.getPredicate()));
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return comparison(code, op, ir::comparisonText(compare.getPredicate()), /*isUnsigned=*/false);
  if (CppExtension *extension = code.extension())
    if (std::optional<CppExpression> other = extension->expression(op))
      return *other;
  CppScalarRow row = scalarRowOf(op);
  if (row.text.empty()) {
    code.missing(op, "`" + op->getName().getStringRef().str() + "` has no spelling in C++");
    return {"0"};
  }
  return row.text.contains('$') ? formExpression(code, op, row) : binaryExpression(code, op, row);
}

CppExpression sumOf(const CppExpression &a, const CppExpression &b) {
  // Adding 0 would only make the text longer.
  if (a.text == "0")
    return b;
  if (b.text == "0")
    return a;
  return {a.within(Precedence::Sum) + " + " + b.within(Precedence::Sum), Precedence::Sum};
}

} // namespace ptl::pto
