// Integers of 64 bits. Vector units add them word by word (`lower_wide`), have logic on them and convert them; all else
// is made of that here.
#include "passes/transform/legalize/legalize_wide.h"

#include "ir/dialect/op_facts.h"

#include <cmath>

using namespace mlir;

namespace ptl::ir::legalize {

static Type wide(const Tiles &t) { return t.r.getIntegerType(64); }

bool isWide(const Tiles &t, Type type) {
  return intBits(type) == 64 && t.target.converts(wide(t), t.f32()) &&
         t.target.converts(wide(t), t.i32()) && t.target.converts(t.i32(), wide(t)) &&
         t.target.has("tand", t.i16());
}

/// A number that all elements are, if it is one that conversions to `f32` keep apart from its neighbours.
static std::optional<double> smallNumber(Value value) {
  constexpr double kExact = 0x1p24; // whole numbers below it are exact in `f32`
  std::optional<double> number = constantOf(value);
  return number && std::abs(*number) < kExact ? number : std::nullopt;
}

static Value rounded(const Tiles &t, Value x) { return t.convert(x, t.f32()); }

// ---- comparisons --------------------------------------------------------------------------------

/// Whether `a` is below `b`, both signed. Rounding to `f32` keeps the order, but may make neighbours equal: those are so
/// near to each other that their difference does not overflow.
static Value below(const Tiles &t, Value a, Value b) {
  Value x = rounded(t, a), y = rounded(t, b), apart = rounded(t, t.sub(a, b));
  return t.lt(t.select(t.eq(x, y), apart, t.sub(x, y)), 0);
}

/// A signed number of the same order.
static Value inOrder(const Tiles &t, Value x) {
  if (!isUnsigned(elem(x)))
    return x;
  return t.bitXor(t.bitcast(x, wide(t)), -0x1p63);
}

Value compareWide(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  bool isSigned = !isUnsigned(elem(a));
  llvm::StringRef name = op->getName().getStringRef();
  // Numbers above and below a small one are rounded to numbers above and below it.
  if (std::optional<double> number = smallNumber(b); number && isSigned)
    return t.make(name, t.i1(), {rounded(t, a), t.number(t.f32(), *number)});
  if (isa<EqOp, NeOp>(op)) {
    // No number but 0 is rounded to 0.
    Value differ = rounded(t, t.bitcast(t.bitXor(a, b), wide(t)));
    return t.make(name, t.i1(), {differ, t.number(t.f32(), 0)});
  }
  a = inOrder(t, a);
  b = inOrder(t, b);
  Value isBelow = isa<LtOp, GeOp>(op) ? below(t, a, b) : below(t, b, a);
  return isa<LtOp, GtOp>(op) ? isBelow : t.negated(isBelow);
}

// ---- choices ------------------------------------------------------------------------------------

Value selectWide(const Tiles &t, Value condition, Value a, Value b) {
  Type type = elem(a);
  std::optional<double> x = smallNumber(a), y = smallNumber(b);
  if (x && y)
    return t.bitcast(t.convert(t.choose(condition, t.i32(), *x, *y), wide(t)), type);
  // All bits of a number are 1 where the condition holds.
  auto bits = [&](double yes, double no) {
    return t.bitcast(t.convert(t.choose(condition, t.i32(), yes, no), wide(t)), type);
  };
  if (y == 0.0)
    return t.bitAnd(a, bits(-1, 0));
  if (x == 0.0)
    return t.bitAnd(b, bits(0, -1));
  return t.bitXor(b, t.bitAnd(t.bitXor(a, b), bits(-1, 0)));
}

Value extremeWide(const Tiles &t, Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  return t.select(isa<MaxOp>(op) ? t.lt(b, a) : t.lt(a, b), a, b);
}

Value absoluteWide(const Tiles &t, Value x) { return t.select(t.lt(x, 0), t.neg(x), x); }

Value signWide(const Tiles &t, Value x) {
  if (isUnsigned(elem(x)))
    return t.select(t.eq(x, 0), t.number(elem(x), 0), t.number(elem(x), 1));
  // What is rounded keeps its sign, and is a whole number.
  Value sign = t.max(t.min(rounded(t, x), 1), -1);
  return t.convert(t.convert(sign, t.i32(), "zero"), wide(t));
}

// ---- words --------------------------------------------------------------------------------------

namespace {
/// The words of numbers.
struct Words {
  Value low, high;
};
} // namespace

static Words wordsOf(const Tiles &t, Value x) {
  x = t.bitcast(x, wide(t));
  return {t.convert(x, t.i32()), t.convert(t.shr(x, 32), t.i32())};
}

static Value joined(const Tiles &t, const Words &words) {
  Value low = t.bitAnd(t.convert(words.low, wide(t)), 0x1p32 - 1);
  return t.bitOr(t.shl(t.convert(words.high, wide(t)), 32), low);
}

Value onWords(const Tiles &t, Operation *op) {
  auto on = [&](Value words) {
    llvm::SmallVector<Value> operands(op->getOperands());
    operands.front() = words;
    return t.cloneWith(op, operands, t.i32());
  };
  Words words = wordsOf(t, op->getOperand(0));
  return t.bitcast(joined(t, {on(words.low), on(words.high)}), elem(op->getResult(0)));
}

Value multiplyWide(const Tiles &t, Value a, Value b) {
  constexpr double half = 0xffff; // the lower half of a word
  // A known factor of few bits has no upper parts.
  std::optional<double> known = smallNumber(b);
  bool isShort = known && *known >= 0 && *known <= half;
  Words x = wordsOf(t, a), y = wordsOf(t, b);
  auto lower = [&](Value word) { return t.bitAnd(word, half); };
  auto upper = [&](Value word) { return t.shrUnsigned(word, 16); };
  // Products of halves fit into a word.
  Value x0 = lower(x.low), x1 = upper(x.low), y0 = lower(y.low);
  Value first = t.mul(x0, y0), second = t.mul(x1, y0);
  Value middle = t.add(upper(first), lower(second));
  Value high = t.add(upper(second), t.mul(x.high, y.low));
  if (!isShort) {
    Value y1 = upper(y.low), third = t.mul(x0, y1);
    middle = t.add(middle, lower(third));
    high = t.add(t.add(high, upper(third)), t.add(t.mul(x1, y1), t.mul(x.low, y.high)));
  }
  Value low = t.bitOr(t.shl(middle, 16), lower(first));
  return t.bitcast(joined(t, {low, t.add(high, upper(middle))}), elem(a));
}

// ---- reductions ---------------------------------------------------------------------------------

/// Halves of the low words do not overflow where they are added, and what high words lose is lost in the sum, too.
static Value sumOfWords(const Tiles &t, const Words &words, llvm::function_ref<Value(Value)> add) {
  Value first = t.convert(add(t.bitAnd(words.low, 0xffff)), wide(t));
  Value second = t.convert(add(t.shrUnsigned(words.low, 16)), wide(t));
  Value third = t.convert(add(words.high), wide(t));
  return t.add(t.add(first, t.shl(second, 16)), t.shl(third, 32));
}

Value reduceWide(const Tiles &t, OpId kind, Value x, llvm::ArrayRef<int64_t> axes,
                 llvm::function_ref<Value(OpId, Value)> reduceWords) {
  // So many halves of words fit into a word.
  constexpr int64_t kMost = 1 << 15;
  int64_t count = 1;
  for (int64_t axis : axes) {
    int64_t capacity = extentsOf(x.getType())[static_cast<size_t>(axis)].capacity;
    count = capacity > kMost || capacity == Extent::kUnknown ? kMost + 1 : count * capacity;
    if (count > kMost)
      return {};
  }
  Type type = elem(x);
  if (kind == OpId::ReduceSum) {
    auto add = [&](Value words) { return reduceWords(OpId::ReduceSum, words); };
    return t.bitcast(sumOfWords(t, wordsOf(t, x), add), type);
  }
  if (kind != OpId::ReduceMax && kind != OpId::ReduceMin)
    return {};
  // Among the numbers with the extreme high word, the low words decide, which have no sign.
  bool isMax = kind == OpId::ReduceMax;
  Words words = wordsOf(t, inOrder(t, x));
  Value high = reduceWords(kind, words.high);
  Value low = t.bitXor(words.low, -0x1p31);
  Value others = t.number(t.i32(), isMax ? -0x1p31 : 0x1p31 - 1);
  low = reduceWords(kind, t.select(t.eq(words.high, high), low, others));
  Value result = joined(t, {t.bitXor(low, -0x1p31), high});
  return isUnsigned(type) ? t.bitcast(t.bitXor(result, -0x1p63), type) : result;
}

Value searchWide(const Tiles &t, Operation *op, int64_t axis,
                 llvm::function_ref<Value(OpId, Value)> reduceAlong) {
  Value x = op->getOperand(0);
  Value extreme = reduceAlong(isa<ReduceArgmaxOp>(op) ? OpId::ReduceMax : OpId::ReduceMin, x);
  // Of the positions with that value the lowest counts; an empty axis has none.
  constexpr double none = 0x1p31 - 1;
  Value at = t.select(t.eq(x, extreme), t.broadcastTo(t.positions(x, axis), x), none);
  Value lowest = reduceAlong(OpId::ReduceMin, at);
  return t.select(t.eq(lowest, none), t.number(t.i32(), -1), lowest);
}

} // namespace ptl::ir::legalize
