// Positions taken from arrays, scattered stores, and counter-based random numbers.
#include "codegen/cpu/lowering.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

static Coord coordFromElement(Lowering &l, Value array, const Coords &at) {
  const Emit &e = l.e;
  Value element = l.elementAt(array, at);
  Type elem = cast<ir::ArrayType>(array.getType()).getElementType();
  Value position = convertElem(e, element, elem, e.b.getIndexType());
  return isa<VectorType>(position.getType()) ? Coord{{}, 0, position} : Coord{position};
}

Value Lowering::gatherElement(Operation *op, const Coords &at) {
  Coords from = at;
  if (auto gather = dyn_cast<ir::GatherOp>(op)) {
    from[gather.getAxis()] = coordFromElement(*this, gather.getIdx(), at);
  } else if (auto take = dyn_cast<ir::TakeOp>(op)) {
    auto axis = take.getAxis();
    from[axis] = coordFromElement(*this, take->getOperand(1), {at[axis]});
  } else {
    return {};
  }
  return loadAt(*viewOf(op->getOperand(0)), from);
}

// --- scatter -------------------------------------------------------------------------------------

static Value meet(Lowering &l, StringRef how, Type elem, Value old, Value next) {
  const Emit &e = l.e;
  if (how == "set")
    return next;
  if (how == "add")
    return e.add(old, next);
  bool larger = how == "max";
  Value first;
  if (isFloatElem(elem))
    first = e.cmpf(larger ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, next, old);
  else if (isUnsigned(elem))
    first = e.cmpi(larger ? CmpIPredicate::ugt : CmpIPredicate::ult, next, old);
  else
    first = e.cmpi(larger ? CmpIPredicate::sgt : CmpIPredicate::slt, next, old);
  return e.select(first, next, old);
}

bool Lowering::produceScatter(Operation *op, const View &dest) {
  auto scatter = dyn_cast<ir::ScatterOp>(op);
  if (!scatter)
    return false;
  evaluateInto(scatter.getX(), dest);
  prepare(scatter.getIdx());
  prepare(scatter.getV());
  Values extents = extentsOf(scatter.getIdx());
  Coords at(extents.size());
  SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(0, extents.size())));
  Scope scope(*this);
  forAxes(extents, axes, at, [&](Coords &at) {
    Coords to = at;
    to[scatter.getAxis()] = coordFromElement(*this, scatter.getIdx(), at);
    Value next = elementAt(scatter.getV(), at);
    Value old = scatter.getCombine() == "set" ? Value() : loadAt(dest, to);
    storeAt(dest, to, meet(*this, scatter.getCombine(), dest.element, old, next));
  });
  return true;
}

// --- random numbers ------------------------------------------------------------------------------

// High and low word of the product with a constant.
static std::pair<Value, Value> multiplyWide(const Emit &e, Value x, uint32_t factor) {
  Value wide = e.extui(x, e.b.getI64Type());
  Value product = e.mul(wide, e.integer(wide.getType(), factor));
  return {e.trunci(e.shrUnsigned(product, 32), e.b.getI32Type()),
          e.trunci(product, e.b.getI32Type())};
}

Value emitPhilox(const Emit &e, Value counter, Value seed) {
  Type i32 = e.b.getI32Type();
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
  Value empty = e.cmpi(CmpIPredicate::eq, span, 0);
  span = e.select(empty, e.i64(1), span);
  Value wide = e.extui(bits, i64);
  Value rest = e.b.create<arith::RemUIOp>(e.loc, wide, e.splat(span, wide.getType()));
  return convertElem(e, e.add(e.splat(low, wide.getType()), rest), i64, elem);
}

Value Lowering::randomElement(Operation *op, const Coords &at) {
  Type i64 = e.b.getI64Type();
  if (auto philox = dyn_cast<ir::PhiloxOp>(op)) {
    auto array = cast<ir::ArrayType>(philox.getCounter().getType());
    Value counter = elementAt(philox.getCounter(), at);
    counter = convertElem(e, counter, array.getElementType(), i64);
    Value seed = e.indexCast(scalarOf(philox.getSeed()), i64);
    return emitPhilox(e, counter, e.splat(seed, counter.getType()));
  }
  auto random = dyn_cast<ir::RandomOp>(op);
  if (!random)
    return {};
  Values extents = extentsOf(random.getResult());
  Value counter = e.i64(0);
  Value stride = index(1);
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis) {
    Value part = positionVector(scaled(at[axis], stride), i64);
    if (isa<VectorType>(part.getType()) || isa<VectorType>(counter.getType()))
      counter = toLanes(counter), part = toLanes(part);
    counter = e.add(counter, part);
    stride = memoMul(stride, extents[axis]);
  }
  Value seed = e.indexCast(scalarOf(random.getSeed()), i64);
  Value bits = emitPhilox(e, counter, e.splat(seed, counter.getType()));
  Type elem = cast<ir::ArrayType>(random.getResult().getType()).getElementType();
  return shapeBits(e, bits, elem, scalarOf(random.getLow()), scalarOf(random.getHigh()));
}

} // namespace ptl::cpu
