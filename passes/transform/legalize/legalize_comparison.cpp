// Comparisons, masks, tests of floats, and `select`.
#include "passes/transform/legalize/legalize_comparison.h"
#include "passes/transform/legalize/legalize_wide.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/op_facts.h"

using namespace mlir;

namespace ptl::ir::legalize {

bool isNarrowed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && attrs::narrowed.isOn(op);
}

Value maskToNumbers(const Tiles &t, Value mask, Type elem) {
  return t.choose(mask, elem ? elem : t.f16(), 1, 0);
}

Value numbersToMask(const Tiles &t, Value numbers) { return t.ne(numbers, 0); }

Value withFullOperands(const Tiles &t, Operation *op) {
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  llvm::SmallVector<Value> operands;
  bool changed = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(isArray(operand) ? t.spread(operand, extents, op->getOperands()) : operand);
    changed |= operands.back() != operand;
  }
  return changed ? t.cloneWith(op, operands, elem(op->getResult(0))) : Value();
}

Value onWiderFloats(const Tiles &t, Operation *op) {
  Type first = elem(op->getOperand(0));
  // Conditions among the operands do not decide the float type.
  for (Value operand : op->getOperands())
    if (isReal(elem(operand)))
      first = elem(operand);
  if (!isReal(first) || first.getIntOrFloatBitWidth() >= 32)
    return {};
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isReal(elem(operand)) ? t.widen(operand, t.f32()) : operand);
  Type result = elem(op->getResult(0));
  Value wide = t.cloneWith(op, operands, isReal(result) ? t.f32() : result);
  return isReal(result) ? t.narrow(wide, result) : wide;
}

// ---- comparisons --------------------------------------------------------------------------------

/// Operands of type `wide` instead, compared in the same way.
static Value compareAs(const Tiles &t, Operation *op, Type wide) {
  return t.make(op->getName().getStringRef(), t.i1(),
                {t.convert(op->getOperand(0), wide), t.convert(op->getOperand(1), wide)});
}

/// By larger and smaller values and their equality: differences of 32-bit integers may overflow.
static Value compareByExtremes(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (isa<LeOp>(op))
    // a <= b exactly where the smaller of both is a, and so on.
    return t.eq(t.min(a, b), a);
  if (isa<GeOp>(op))
    return t.eq(t.max(a, b), a);
  if (isa<LtOp>(op))
    return t.negated(t.eq(t.max(a, b), a));
  if (isa<GtOp>(op))
    return t.negated(t.eq(t.min(a, b), a));
  return t.negated(t.eq(a, b));
}

/// Unsigned words: as signed ones, with the top bit inverted where the order matters.
static Value compareWords(const Tiles &t, Operation *op, Type type, bool ordered) {
  Type bits = t.bitsOf(type);
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value word = t.bitcast(operand, bits);
    // Inverting the top bit maps the order of unsigned words to that of signed ones.
    operands.push_back(ordered ? t.bitXor(word, -0x1p31) : word);
  }
  return t.make(op->getName().getStringRef(), t.i1(), operands);
}

static Value compareMasks(const Tiles &t, Operation *op) {
  // Masks differ where the exclusive or is set.
  Value differ = t.bitXor(op->getOperand(0), op->getOperand(1));
  return isa<EqOp>(op) ? t.negated(differ) : differ;
}

static bool takesComparison(const Tiles &t, Operation *op, Type type, bool equality) {
  // bf16 has no comparison, so it goes through `f32`.
  if (type.isBF16())
    return false;
  bool scalar = !isArray(op->getOperand(1));
  llvm::StringRef suffix = equality ? ".eq" : "";
  return t.target.has(((scalar ? "tcmps" : "tcmp") + suffix).str(), type);
}

static Value rewriteCompare(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Type type = elem(a);
  if (!isArray(a))
    // Instructions take a scalar as the second operand, so the comparison is mirrored.
    return t.make(operationName(*loweringOf(op)->swapped), t.i1(), {b, a});
  if (isBool(type))
    return compareMasks(t, op);
  bool ordered = !isa<EqOp, NeOp>(op);
  if (takesComparison(t, op, type, isa<EqOp>(op)))
    return withFullOperands(t, op);
  if (isReal(type))
    return onWiderFloats(t, op);
  unsigned bits = intBits(type);
  if (bits == 8)
    // Eight bits are exact in f16, sixteen in f32.
    return compareAs(t, op, t.f16());
  if (bits == 16)
    return compareAs(t, op, t.f32());
  if (isWide(t, type))
    return compareWide(t, op);
  if (bits != 32)
    return {};
  return isUnsigned(type) ? compareWords(t, op, type, ordered) : compareByExtremes(t, op);
}

// ---- tests of floats ----------------------------------------------------------------------------

static Value rewriteIsNan(const Tiles &t, Operation *op) {
  // Only NaN differs from itself.
  return t.ne(op->getOperand(0), op->getOperand(0));
}
static Value rewriteIsInf(const Tiles &t, Operation *op) {
  return t.eq(t.abs(op->getOperand(0)), kInfinity);
}
static Value rewriteIsFinite(const Tiles &t, Operation *op) {
  if (elem(op->getOperand(0)).getIntOrFloatBitWidth() == 8) // some of those have no infinity
    return onWiderFloats(t, op);
  return t.lt(t.abs(op->getOperand(0)), kInfinity);
}

// ---- masks --------------------------------------------------------------------------------------

/// A mask that is the scalar everywhere. Scalars become masks through numbers, since packed bits cannot be filled.
static Value maskOf(const Tiles &t, Value scalar, llvm::ArrayRef<Extent> extents,
                    ValueRange operands) {
  Value number = t.choose(scalar, t.f16(), 1, 0);
  return numbersToMask(t, t.full(number, extents, operands));
}

/// Masks are packed bits: no scalar meets them, and they do not repeat along an axis.
Value rewriteMaskOp(const Tiles &t, Operation *op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (isArray(operand))
      continue;
    // Each scalar operand is replaced in a round of its own, since the clone is rewritten again.
    llvm::SmallVector<Value> operands(op->getOperands());
    operands[i] = maskOf(t, operand, extentsOf(op->getResult(0).getType()), op->getOperands());
    return t.cloneWith(op, operands, t.i1());
  }
  return withFullOperands(t, op);
}

// ---- select -------------------------------------------------------------------------------------

static Value selectAs(const Tiles &t, Operation *op, Type wide, bool asBits) {
  Type type = elem(op->getResult(0));
  auto to = [&](Value x) { return asBits ? t.bitcast(x, wide) : t.convert(x, wide); };
  Value result = t.select(op->getOperand(0), to(op->getOperand(1)), to(op->getOperand(2)));
  return asBits ? t.bitcast(result, type) : t.convert(result, type);
}

static Value rewriteSelect(const Tiles &t, Operation *op) {
  Value c = op->getOperand(0), a = op->getOperand(1), b = op->getOperand(2);
  Type type = elem(a);
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  if (!isArray(c))
    return t.select(maskOf(t, c, extents, op->getOperands()), a, b);
  if (isBool(type))
    // On masks a select is bit logic.
    return t.either(t.both(c, a), t.both(t.negated(c), b));
  bool takes = t.target.has("tsel", type) && t.target.has("tsels", type);
  // Operands that were only narrowed for their type are selected before that rounding.
  if (isReal(type) && (isNarrowed(a) || isNarrowed(b) || (!takes && !type.isBF16())))
    if (Value wide = onWiderFloats(t, op))
      return wide;
  bool isWord = type.isBF16() || (isUnsigned(type) && intBits(type) >= 16 && intBits(type) <= 32);
  if (!takes && isWord)
    return selectAs(t, op, t.bitsOf(type), true);
  if (!takes && isWide(t, type))
    return selectWide(t, c, a, b);
  if (!takes)
    return intBits(type) == 8 ? selectAs(t, op, t.f16(), false) : Value();
  // The instruction takes the scalar as its second operand, so the condition is inverted.
  if (!isArray(a) && isArray(b))
    return t.select(t.negated(c), b, a);
  if (!isArray(a))
    return t.select(c, t.full(a, extents, op->getOperands()), b);
  return withFullOperands(t, op);
}

static constexpr Row kComparisonRows[] = {
    {"eq", rewriteCompare},    {"ne", rewriteCompare},  {"lt", rewriteCompare},
    {"le", rewriteCompare},    {"gt", rewriteCompare},  {"ge", rewriteCompare},
    {"isnan", rewriteIsNan},   {"isinf", rewriteIsInf}, {"isfinite", rewriteIsFinite},
    {"and", rewriteMaskOp},    {"or", rewriteMaskOp},   {"not", rewriteMaskOp},
    {"select", rewriteSelect},
};

llvm::ArrayRef<Row> comparisonRows() { return kComparisonRows; }

} // namespace ptl::ir::legalize
