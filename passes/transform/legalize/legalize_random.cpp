// Random bits: Philox 4x32-10 in wrapping 32-bit arithmetic.

#include "passes/transform/legalize/legalize_random.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir::legalize {

/// The words of a product with a constant, the upper one by halves of 16 bits.
static std::pair<Value, Value> multiplyWide(const Tiles &t, Value x, uint32_t factor) {
  // The hardware has no wide product, so it is made of products of halves, as in long
  // multiplication.
  Value high = t.shrUnsigned(x, 16), low = t.bitAnd(x, 0xffff);
  auto factorHigh = static_cast<int>(factor >> 16), factorLow = static_cast<int>(factor & 0xffff);
  Value ll = t.mul(low, factorLow), lh = t.mul(low, factorHigh);
  Value hl = t.mul(high, factorLow), hh = t.mul(high, factorHigh);
  // The middle sum collects what carries into the upper word.
  Value middle = t.add(t.add(t.shrUnsigned(ll, 16), t.bitAnd(lh, 0xffff)), t.bitAnd(hl, 0xffff));
  Value upper = t.add(t.add(hh, t.shrUnsigned(lh, 16)), t.shrUnsigned(hl, 16));
  // The lower word is the wrapping product.
  return {t.add(upper, t.shrUnsigned(middle, 16)), t.mul(x, static_cast<double>(factor))};
}

/// The words of the stream at the positions `counter`. Signed ones below 0 are positions below
/// 2^64, whose blocks have an upper word, too.
static Value philoxBits(const Tiles &t, Value counter, Value seed, bool isSigned) {
  // The key is the same for all elements, so it is computed on scalars.
  Value wide = t.r.createOrFold<arith::IndexCastOp>(t.loc, t.r.getI64Type(), seed);
  Value upper = t.r.createOrFold<arith::ShRUIOp>(t.loc, wide, t.number(t.r.getI64Type(), 32));
  Value key0 = t.r.createOrFold<arith::TruncIOp>(t.loc, t.i32(), wide);
  Value key1 = t.r.createOrFold<arith::TruncIOp>(t.loc, t.i32(), upper);
  auto step = [&](Value key, uint32_t by) {
    return t.r.createOrFold<arith::AddIOp>(t.loc, key, t.number(t.i32(), static_cast<double>(by)));
  };
  // Four words make a block. In the first round all words but those of the block's number are 0.
  Value block = isSigned ? t.shr(counter, 2) : t.shrUnsigned(counter, 2);
  auto [high, low] = multiplyWide(t, block, 0xD2511F53);
  // A negative 32-bit counter stands for one below 2^64, so its upper word has all bits set; the
  // shift by 2 leaves 30 of them.
  Value first = isSigned ? t.bitXor(t.bitAnd(t.shr(counter, 31), 0x3fffffff), key0) : key0;
  Value words[] = {first, t.number(t.i32(), 0), t.bitXor(high, key1), low};
  for (int round = 1; round < 10; ++round) {
    key0 = step(key0, 0x9E3779B9);
    key1 = step(key1, 0xBB67AE85);
    auto [high0, low0] = multiplyWide(t, words[0], 0xD2511F53);
    auto [high1, low1] = multiplyWide(t, words[2], 0xCD9E8D57);
    Value next = t.bitXor(t.bitXor(high1, words[1]), key0);
    Value third = t.bitXor(t.bitXor(high0, words[3]), key1);
    words[0] = next, words[1] = low1, words[2] = third, words[3] = low0;
  }
  Value word = t.bitAnd(counter, 3);
  Value result = words[3];
  // Each element picks the word of its own position.
  for (int n = 2; n >= 0; --n)
    result = t.select(t.eq(word, n), words[n], result);
  return result;
}

static Value rewritePhilox(const Tiles &t, Operation *op) {
  auto philox = cast<PhiloxOp>(op);
  Value counter = philox.getCounter();
  if (!isArray(counter) || intBits(elem(counter)) > 32)
    return {};
  bool isSigned = !isUnsigned(elem(counter));
  Value bits = philoxBits(t, t.convert(counter, t.i32()), philox.getSeed(), isSigned);
  return t.bitcast(bits, elem(op->getResult(0)));
}

static constexpr Row kRandomRows[] = {
    {"philox", rewritePhilox},
};

llvm::ArrayRef<Row> randomRows() { return kRandomRows; }

} // namespace ptl::ir::legalize
