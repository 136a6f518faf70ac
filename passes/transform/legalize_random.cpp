// Random bits: Philox 4x32-10 in wrapping 32-bit arithmetic.
#include "passes/transform/legalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir::legalize {

/// The words of a product with a constant, the upper one by halves of 16 bits.
static std::pair<Value, Value> multiplyWide(const Tiles &t, Value x, uint32_t factor) {
  Value high = t.shrUnsigned(x, 16), low = t.bitAnd(x, 0xffff);
  auto factorHigh = static_cast<int>(factor >> 16), factorLow = static_cast<int>(factor & 0xffff);
  Value ll = t.mul(low, factorLow), lh = t.mul(low, factorHigh);
  Value hl = t.mul(high, factorLow), hh = t.mul(high, factorHigh);
  Value middle = t.add(t.add(t.shrUnsigned(ll, 16), t.bitAnd(lh, 0xffff)), t.bitAnd(hl, 0xffff));
  Value upper = t.add(t.add(hh, t.shrUnsigned(lh, 16)), t.shrUnsigned(hl, 16));
  return {t.add(upper, t.shrUnsigned(middle, 16)), t.mul(x, static_cast<double>(factor))};
}

/// The words of the stream at the positions `counter`, from 0 to 2^32 - 1.
static Value philoxBits(const Tiles &t, Value counter, Value seed) {
  Value wide = t.r.createOrFold<arith::IndexCastOp>(t.loc, t.r.getI64Type(), seed);
  Value upper = t.r.createOrFold<arith::ShRUIOp>(t.loc, wide, t.number(t.r.getI64Type(), 32));
  Value key0 = t.r.createOrFold<arith::TruncIOp>(t.loc, t.i32(), wide);
  Value key1 = t.r.createOrFold<arith::TruncIOp>(t.loc, t.i32(), upper);
  auto step = [&](Value key, uint32_t by) {
    return t.r.createOrFold<arith::AddIOp>(t.loc, key, t.number(t.i32(), static_cast<double>(by)));
  };
  // The first round, in which all words but one are 0.
  auto [high, low] = multiplyWide(t, t.shrUnsigned(counter, 2), 0xD2511F53);
  Value words[] = {key0, t.number(t.i32(), 0), t.bitXor(high, key1), low};
  for (int round = 1; round < 10; ++round) {
    key0 = step(key0, 0x9E3779B9);
    key1 = step(key1, 0xBB67AE85);
    auto [high0, low0] = multiplyWide(t, words[0], 0xD2511F53);
    auto [high1, low1] = multiplyWide(t, words[2], 0xCD9E8D57);
    Value first = t.bitXor(t.bitXor(high1, words[1]), key0);
    Value third = t.bitXor(t.bitXor(high0, words[3]), key1);
    words[0] = first, words[1] = low1, words[2] = third, words[3] = low0;
  }
  Value word = t.bitAnd(counter, 3);
  Value result = words[3];
  for (int n = 2; n >= 0; --n)
    result = t.select(t.eq(word, n), words[n], result);
  return result;
}

static Value rewritePhilox(const Tiles &t, Operation *op) {
  auto philox = cast<PhiloxOp>(op);
  Value counter = philox.getCounter();
  if (!isArray(counter) || intBits(elem(counter)) > 32)
    return {};
  Value bits = philoxBits(t, t.convert(counter, t.i32()), philox.getSeed());
  return t.bitcast(bits, elem(op->getResult(0)));
}

/// The row-major position of each element, `i32`.
static Value rowMajorPositions(const Tiles &t, RandomOp random) {
  llvm::ArrayRef<Extent> extents = extentsOf(random.getResult().getType());
  size_t named = random.getLengths().size();
  Value sum, stride = t.index(1);
  for (size_t axis = extents.size(); axis-- > 0;) {
    bool isConstant = extents[axis].isConstant();
    Value length = isConstant ? t.index(extents[axis].length) : random.getLengths()[--named];
    OperationState state(t.loc, "ptl.index");
    state.addOperands(t.index(0));
    if (!isConstant)
      state.addOperands(length);
    state.addTypes(ArrayType::get(t.r.getContext(), t.i32(), extents[axis], Place::Inferred));
    llvm::SmallVector<int64_t> others;
    for (size_t n = 0; n < extents.size(); ++n)
      if (n != axis)
        others.push_back(static_cast<int64_t>(n));
    Value along = t.newAxis(t.r.create(state)->getResult(0), others);
    if (sum)
      along = t.mul(along, t.r.createOrFold<arith::IndexCastOp>(t.loc, t.i32(), stride));
    sum = sum ? t.add(along, sum) : along;
    stride = t.r.createOrFold<arith::MulIOp>(t.loc, stride, length);
  }
  return sum;
}

static Value rewriteRandom(const Tiles &t, Operation *op) {
  auto random = cast<RandomOp>(op);
  Type type = elem(random.getResult());
  if (rankOf(random.getResult().getType()) == 0 ||
      (!isReal(type) && !isBool(type) && intBits(type) > 32))
    return {};
  Value low = random.getLow(), high = random.getHigh();
  Value bits = philoxBits(t, rowMajorPositions(t, random), random.getSeed());
  if (isBool(type))
    return t.eq(t.bitAnd(bits, 1), 1);
  if (isReal(type)) {
    Value fraction = t.mul(t.convert(t.shrUnsigned(bits, 8), t.f32()), 0x1p-24);
    Value start = t.convert(low, t.f32());
    Value span = t.sub(t.convert(high, t.f32()), start);
    return t.narrow(t.add(t.mul(fraction, span), start), type);
  }
  Value start = t.convert(low, t.i32());
  Value span = t.sub(t.convert(high, t.i32()), start);
  // An empty interval has one value.
  span = t.select(t.eq(span, 0), t.number(t.i32(), 1), span);
  Value rest = divideUnsignedWords(t, bits, t.full(span, bits)).second;
  return t.convert(t.add(rest, start), type);
}

static constexpr Row rows[] = {
    {"philox", rewritePhilox},
    {"random", rewriteRandom},
};

llvm::ArrayRef<Row> randomRows() { return rows; }

} // namespace ptl::ir::legalize
