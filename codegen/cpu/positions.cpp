// Loops over positions, coordinates, and access to memory at them.
#include "codegen/cpu/lowering.h"

using namespace mlir;

namespace ptl::cpu {

Value Lowering::memoAdd(Value x, Value y) {
  if (constantOf(x) == 0)
    return y;
  if (constantOf(y) == 0)
    return x;
  std::tuple key(x.getAsOpaquePointer(), y.getAsOpaquePointer(), 0);
  if (auto found = memo_.find(key); found != memo_.end())
    return found->second;
  Value sum = e.add(x, y);
  memo_[key] = sum;
  remember([this, key] { memo_.erase(key); });
  return sum;
}

Value Lowering::memoMul(Value x, Value y) {
  if (constantOf(x) == 1)
    return y;
  if (constantOf(y) == 1)
    return x;
  if (constantOf(x) == 0 || constantOf(y) == 0)
    return index(0);
  std::tuple key(x.getAsOpaquePointer(), y.getAsOpaquePointer(), 1);
  if (auto found = memo_.find(key); found != memo_.end())
    return found->second;
  Value product = e.mul(x, y);
  memo_[key] = product;
  remember([this, key] { memo_.erase(key); });
  return product;
}

Coord Lowering::shifted(const Coord &coord, Value offset) {
  Coord result = coord;
  if (coord.vector)
    result.vector = e.add(coord.vector, e.splat(offset, coord.vector.getType()));
  else if (coord.base)
    result.base = memoAdd(coord.base, offset);
  return result;
}

Coord Lowering::scaled(const Coord &coord, Value factor) {
  if (constantOf(factor) == 1 || coord.isUnknown())
    return coord;
  Coord result = coord;
  if (auto number = constantOf(factor); number && !coord.vector) {
    result.base = memoMul(coord.base, factor);
    result.step *= *number;
    return result;
  }
  if (coord.isUniform()) {
    result.base = memoMul(coord.base, factor);
    return result;
  }
  Value positions = positionVector(coord, e.b.getIndexType());
  return {{}, 0, e.mul(positions, e.splat(factor, positions.getType()))};
}

Value Lowering::positionVector(const Coord &coord, Type scalar) {
  if (coord.vector)
    return scalar.isIndex() ? coord.vector : e.indexCast(coord.vector, scalar);
  Value base = scalar.isIndex() ? coord.base : e.indexCast(coord.base, scalar);
  if (coord.step == 0)
    return base;
  auto type = VectorType::get({lanes_}, scalar);
  Value numbers;
  if (scalar.isIndex()) {
    SmallVector<int64_t> steps;
    for (int64_t lane = 0; lane < lanes_; ++lane)
      steps.push_back(lane * coord.step);
    numbers = e.b.create<arith::ConstantOp>(e.loc, DenseIntElementsAttr::get(type, steps));
  } else {
    SmallVector<APInt> steps;
    for (int64_t lane = 0; lane < lanes_; ++lane)
      steps.push_back(APInt(64, lane * coord.step, true).trunc(scalar.getIntOrFloatBitWidth()));
    numbers = e.b.create<arith::ConstantOp>(e.loc, DenseElementsAttr::get(type, steps));
  }
  return e.add(e.splat(base, type), numbers);
}

Value Lowering::toLanes(Value scalar) {
  if (!lanes_ || isa<VectorType>(scalar.getType()))
    return scalar;
  return e.splat(scalar, VectorType::get({lanes_}, scalar.getType()));
}

void Lowering::withLanes(int64_t lanes, Value mask, llvm::function_ref<void()> body) {
  int64_t outerLanes = std::exchange(lanes_, lanes);
  Value outerMask = std::exchange(mask_, mask);
  body();
  lanes_ = outerLanes;
  mask_ = outerMask;
}

namespace {
/// An address: `pointer` for all lanes, or consecutive elements from it, or `offsets` per lane.
struct Place {
  Value pointer, offsets;
  bool consecutive = false;
};
} // namespace

static Place placeOf(Lowering &l, const View &view, const Coords &at) {
  const Emit &e = l.e;
  Type stored = storageType(view.element);
  Value offset = l.index(0), perLane;
  std::optional<int64_t> step = 0; // lanes are this many elements apart, if known
  for (auto [coord, stride] : llvm::zip(at, view.strides)) {
    if (!coord.vector)
      offset = l.memoAdd(offset, l.memoMul(coord.base, stride));
    if (coord.isUniform())
      continue;
    auto number = constantOf(stride);
    step = step && number && !coord.vector ? std::optional(*step + coord.step * *number)
                                           : std::nullopt;
    Coord varying = coord.vector ? coord : Coord{l.index(0), coord.step, {}};
    Value positions = l.positionVector(varying, e.b.getIndexType());
    Value scaled = e.mul(positions, e.splat(stride, positions.getType()));
    perLane = perLane ? e.add(perLane, scaled) : scaled;
  }
  Place place{elementPointer(e, view.data, stored, offset), {}, false};
  if (!perLane)
    return place;
  place.consecutive = step == 1;
  place.offsets = perLane;
  return place;
}

Value Lowering::loadAt(const View &view, const Coords &at) {
  Type stored = storageType(view.element);
  Place place = placeOf(*this, view, at);
  Value raw;
  if (!place.offsets)
    raw = loadRaw(e, place.pointer, stored, 0);
  else if (place.consecutive)
    raw = loadRaw(e, place.pointer, stored, lanes_, mask_);
  else
    raw = gatherRaw(e, place.pointer, stored, place.offsets, mask_);
  return fromStorage(e, raw, view.element);
}

void Lowering::storeAt(const View &view, const Coords &at, Value value) {
  Place place = placeOf(*this, view, at);
  if (!place.offsets)
    return storeRaw(e, place.pointer, toStorage(e, value, view.element));
  value = toStorage(e, toLanes(value), view.element);
  if (place.consecutive)
    storeRaw(e, place.pointer, value, mask_);
  else
    scatterRaw(e, place.pointer, value, place.offsets, mask_);
}

// --- loops ---------------------------------------------------------------------------------------

int64_t Lowering::innerAxis(const Values &extents) const {
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis)
    if (constantOf(extents[axis]) != 1)
      return axis;
  return -1;
}

void Lowering::forAxes(const Values &extents, ArrayRef<int64_t> axes, Coords &at, AtPosition body) {
  if (axes.empty())
    return body(at);
  int64_t axis = axes.front();
  if (constantOf(extents[axis]) == 1) {
    at[axis] = Coord{index(0)};
    return forAxes(extents, axes.drop_front(), at, body);
  }
  e.loop(index(0), extents[axis], index(1), {}, [&](const Emit &, Value i, ValueRange) {
    Scope scope(*this);
    at[axis] = Coord{i};
    forAxes(extents, axes.drop_front(), at, body);
    return SmallVector<Value>();
  });
}

void Lowering::forLanes(const Values &extents, int64_t axis, Coords &at, int64_t cost,
                        AtPosition body) {
  Value length = extents[axis];
  auto number = constantOf(length);
  auto run = [&](Value start, Value mask) {
    Scope scope(*this);
    at[axis] = Coord{start, 1, {}};
    withLanes(maxLanes, mask, [&] { body(at); });
  };
  auto maskFrom = [&](Value start) { return laneMask(e, e.sub(length, start), maxLanes); };
  if (number && *number < maxLanes)
    return run(index(0), maskFrom(index(0)));
  bool exact = number && *number % maxLanes == 0;
  // With mask registers one masked loop costs nearly nothing and is half the code.
  bool maskedOnly = !exact && vectorBytes >= 64 && cost > 6;
  Value whole = length;
  if (!exact && !maskedOnly)
    whole = e.sub(length, e.b.createOrFold<arith::RemUIOp>(e.loc, length, index(maxLanes)));
  e.loop(index(0), whole, index(maxLanes), {}, [&](const Emit &, Value i, ValueRange) {
    run(i, maskedOnly ? maskFrom(i) : Value());
    return SmallVector<Value>();
  });
  if (exact || maskedOnly)
    return;
  Value rest = e.cmpi(arith::CmpIPredicate::slt, whole, length);
  e.branch(rest, {}, [&](const Emit &) -> SmallVector<Value> {
    run(whole, maskFrom(whole));
    return {};
  });
}

void Lowering::forAll(const Values &extents, int64_t cost, ValueRange hoisted, AtPosition body) {
  Coords at(extents.size());
  int64_t inner = innerAxis(extents);
  SmallVector<int64_t> outer;
  for (int64_t axis = 0; axis < static_cast<int64_t>(extents.size()); ++axis)
    if (axis != inner)
      outer.push_back(axis);
  Scope scope(*this);
  forAxes(extents, outer, at, [&](Coords &at) {
    if (inner < 0)
      return body(at);
    at[inner] = Coord();
    for (Value value : hoisted)
      hoist(value, broadcastCoords(value, at));
    forLanes(extents, inner, at, cost, body);
  });
}

} // namespace ptl::cpu
