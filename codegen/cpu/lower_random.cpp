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
  SmallVector<Value> c = {e.trunci(block, i32), e.trunci(e.shrUnsigned(block, 32), i32), zero, zero,
                          e.trunci(seed, i32),  e.trunci(e.shrUnsigned(seed, 32), i32)};
  // Ten rounds are much code, and few counters come here.
  c = e.loop(e.index(0), e.index(10), e.index(1), c,
             [&](const Emit &e, Value, ValueRange c) -> SmallVector<Value> {
               auto [high0, low0] = multiplyWide(e, c[0], 0xD2511F53);
               auto [high1, low1] = multiplyWide(e, c[2], 0xCD9E8D57);
               return {e.bitXor(e.bitXor(high1, c[1]), c[4]),
                       low1,
                       e.bitXor(e.bitXor(high0, c[3]), c[5]),
                       low0,
                       e.add(c[4], e.integer(c[4].getType(), 0x9E3779B9)),
                       e.add(c[5], e.integer(c[5].getType(), 0xBB67AE85))};
             });
  Value word = e.trunci(e.bitAnd(counter, 3), i32);
  // Lanes may want different words of their blocks, so the word is selected rather than indexed.
  Value result = c[3];
  for (int64_t n = 2; n >= 0; --n)
    result = e.select(e.cmpi(CmpIPredicate::eq, word, n), c[n], result);
  return result;
}

// The four words of each block, in the low halves of numbers of 64 bits, whose products take one instruction.
static std::array<Value, 4> wordsOfBlocks(const Emit &e, Value block, Value seed) {
  constexpr int64_t kLow = 0xFFFFFFFF;
  std::array<Value, 4> c = {e.bitAnd(block, kLow), e.shrUnsigned(block, 32),
                            e.zero(block.getType()), e.zero(block.getType())};
  Value key0 = e.bitAnd(seed, kLow), key1 = e.shrUnsigned(seed, 32);
  for (int round = 0; round < 10; ++round) {
    Value product0 = e.mul(e.bitAnd(c[0], kLow), e.integer(block.getType(), 0xD2511F53));
    Value product1 = e.mul(e.bitAnd(c[2], kLow), e.integer(block.getType(), 0xCD9E8D57));
    // What is above the low half goes where the next product does not look.
    c = {e.bitXor(e.bitXor(e.shrUnsigned(product1, 32), c[1]), e.splat(key0, block.getType())),
         product1,
         e.bitXor(e.bitXor(e.shrUnsigned(product0, 32), c[3]), e.splat(key1, block.getType())),
         product0};
    key0 = e.add(key0, e.i64(0x9E3779B9));
    key1 = e.add(key1, e.i64(0xBB67AE85));
  }
  return c;
}

// Words of counters that follow each other from `first` on: a vector of half as many blocks has them, since there are four in each.
static Value consecutiveWords(const Emit &e, Value first, Value seed, int64_t lanes) {
  Type i32 = e.b.getI32Type(), i64 = e.b.getI64Type();
  Value blocks = laneNumbers(e, lanes / 2, i64);
  blocks = e.add(blocks, e.splat(e.shrUnsigned(first, 2), blocks.getType()));
  std::array<Value, 4> c = wordsOfBlocks(e, blocks, seed);
  // Two words of each block side by side.
  auto pairs = [&](Value low, Value high) {
    Value both = e.bitOr(e.bitAnd(low, 0xFFFFFFFF), e.shl(high, 32));
    return e.b.create<vector::BitCastOp>(e.loc, VectorType::get({lanes}, i32), both).getResult();
  };
  Value front = pairs(c[0], c[1]), back = pairs(c[2], c[3]);
  Value at = laneNumbers(e, lanes, i32);
  at = e.add(at, e.splat(e.trunci(e.bitAnd(first, 3), i32), at.getType()));
  // Bit 1 of a counter chooses between the vectors of words 0 and 1 and of words 2 and 3; what is left of it is the place in that vector.
  Value place = e.bitOr(e.shl(e.shrUnsigned(at, 2), 1), e.bitAnd(at, 1)), isBack = e.bitAnd(at, 2);
  if (e.unit.bytes >= 64)
    return e.intrinsic("llvm.x86.avx512.vpermi2var.d.512", front.getType(),
                       {front, e.bitOr(place, e.shl(isBack, 3)), back});
  auto chosen = [&](Value words) {
    return e.intrinsic("llvm.x86.avx2.permd", words.getType(), {words, place});
  };
  return e.select(e.cmpi(CmpIPredicate::eq, isBack, 0), chosen(front), chosen(back));
}

// Words of any counters. Most vectors have counters that follow each other, which a comparison finds.
static Value words(const Emit &e, Value counter, Value seed) {
  int64_t lanes = laneCount(counter.getType());
  auto each = [&](const Emit &e) {
    return SmallVector<Value>{emitPhilox(e, counter, e.splat(seed, counter.getType()))};
  };
  if (lanes == 0 || e.unit.bytes < 32 || lanes != e.unit.bytes / 4)
    return each(e)[0];
  Value first = e.b.create<vector::ExtractElementOp>(e.loc, counter, e.i32(0));
  Value run = e.add(laneNumbers(e, lanes, e.b.getI64Type()), e.splat(first, counter.getType()));
  Value isRun = e.b.create<vector::ReductionOp>(e.loc, vector::CombiningKind::AND,
                                                e.cmpi(CmpIPredicate::eq, counter, run));
  return e.branch(
      isRun, VectorType::get({lanes}, e.b.getI32Type()),
      [&](const Emit &e) { return SmallVector<Value>{consecutiveWords(e, first, seed, lanes)}; },
      each)[0];
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
    return words(e, counter, seed);
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
  Value bits = words(e, counter, seed);
  Type elem = cast<ir::ArrayType>(random.getResult().getType()).getElementType();
  return shapeBits(e, bits, elem, scalarOf(l, random.getLow()), scalarOf(l, random.getHigh()));
}

} // namespace ptl::cpu
