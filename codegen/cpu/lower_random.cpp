// Counter-based random numbers.
#include "codegen/cpu/lower_random.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/positions.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

// High and low word of the product with a constant.
static std::pair<Value, Value> multiplyWide(const Emit &e, Value x, uint32_t factor) {
  Value wide = e.extui(x, e.b.getI64Type());
  Value product = e.mul(wide, e.integer(wide.getType(), factor));
  return {e.trunci(e.shrUnsigned(product, 32), e.b.getI32Type()),
          e.trunci(product, e.b.getI32Type())};
}

Value emitPhilox(const Emit &e, Value counter, Value seed) {
  Type i32 = e.b.getI32Type();
  // One block of Philox gives four words, so four consecutive counters share a block.
  Value block = e.shrUnsigned(counter, 2);
  Value zero = e.zero(withShapeOf(counter.getType(), i32));
  SmallVector<Value> c = {e.trunci(block, i32), e.trunci(e.shrUnsigned(block, 32), i32), zero,
                          zero};
  Value key0 = e.trunci(seed, i32), key1 = e.trunci(e.shrUnsigned(seed, 32), i32);
  for (int round = 0; round < 10; ++round) {
    auto [high0, low0] = multiplyWide(e, c[0], 0xD2511F53);
    auto [high1, low1] = multiplyWide(e, c[2], 0xCD9E8D57);
    c = {e.bitXor(e.bitXor(high1, c[1]), key0), low1, e.bitXor(e.bitXor(high0, c[3]), key1), low0};
    key0 = e.add(key0, e.integer(key0.getType(), 0x9E3779B9));
    key1 = e.add(key1, e.integer(key1.getType(), 0xBB67AE85));
  }
  Value word = e.trunci(e.bitAnd(counter, 3), i32);
  // Lanes may want different words of their blocks, so the word is selected rather than indexed.
  Value result = c[3];
  for (int64_t n = 2; n >= 0; --n)
    result = e.select(e.cmpi(CmpIPredicate::eq, word, n), c[n], result);
  return result;
}

static Value shapeBits(const Emit &e, Value bits, Type elem, Value low, Value high) {
  Type f32 = e.b.getF32Type();
  if (elem.isInteger(1))
    return e.cmpi(CmpIPredicate::ne, e.bitAnd(bits, 1), 0);
  if (isFloatElem(elem)) {
    Type reg = registerType(elem);
    low = convertElem(e, low, reg, f32);
    high = convertElem(e, high, reg, f32);
    // The upper 24 bits are exact in f32, so that the fraction stays below 1.
    Value fraction = e.sitofp(e.shrUnsigned(bits, 8), f32);
    fraction = e.mul(fraction, e.real(fraction.getType(), 0x1p-24));
    Value span = e.splat(e.sub(high, low), fraction.getType());
    Value value = e.add(e.splat(low, fraction.getType()), e.mul(fraction, span));
    return convertElem(e, value, f32, elem);
  }
  Type i64 = e.b.getI64Type();
  low = convertElem(e, low, elem, i64);
  high = convertElem(e, high, elem, i64);
  Value span = e.sub(high, low);
  // A remainder by 0 would trap.
  Value empty = e.cmpi(CmpIPredicate::eq, span, 0);
  span = e.select(empty, e.i64(1), span);
  Value wide = e.extui(bits, i64);
  Value rest = e.b.create<arith::RemUIOp>(e.loc, wide, e.splat(span, wide.getType()));
  return convertElem(e, e.add(e.splat(low, wide.getType()), rest), i64, elem);
}

Value randomElement(Lowering &l, Operation *op, const Coords &at) {
  const Emit &e = l.e;
  Type i64 = e.b.getI64Type();
  if (auto philox = dyn_cast<ir::PhiloxOp>(op)) {
    auto array = cast<ir::ArrayType>(philox.getCounter().getType());
    Value counter = elementAt(l, philox.getCounter(), at);
    counter = convertElem(e, counter, array.getElementType(), i64);
    Value seed = e.indexCast(scalarOf(l, philox.getSeed()), i64);
    return emitPhilox(e, counter, e.splat(seed, counter.getType()));
  }
  auto random = dyn_cast<ir::RandomOp>(op);
  if (!random)
    return {};
  Values extents = extentsOf(l, random.getResult());
  // The counter is the row-major position, so the numbers depend on neither tiles nor threads.
  Value counter = e.i64(0);
  Value stride = l.index(1);
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis) {
    Value part = positionVector(l, scaled(l, at[axis], stride), i64);
    if (isa<VectorType>(part.getType()) || isa<VectorType>(counter.getType()))
      counter = toLanes(l, counter), part = toLanes(l, part);
    counter = e.add(counter, part);
    stride = memoMul(l, stride, extents[axis]);
  }
  Value seed = e.indexCast(scalarOf(l, random.getSeed()), i64);
  Value bits = emitPhilox(e, counter, e.splat(seed, counter.getType()));
  Type elem = cast<ir::ArrayType>(random.getResult().getType()).getElementType();
  return shapeBits(e, bits, elem, scalarOf(l, random.getLow()), scalarOf(l, random.getHigh()));
}

} // namespace ptl::cpu
