// Loops over positions, coordinates, and access to memory at them.
#include "codegen/cpu/positions.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/strided_access.h"
#include "codegen/cpu/tile_ahead.h"

using namespace mlir;

namespace ptl::cpu {

/// Sums and products of positions are shared, since the same offset is needed by every access of a
/// body. One is forgotten at the end of the scope in which it stands, because it may not be used
/// beyond.
static Value shared(Lowering &l, Value x, Value y, bool isProduct) {
  std::tuple key(x.getAsOpaquePointer(), y.getAsOpaquePointer(), isProduct ? 1 : 0);
  if (auto found = l.sums.find(key); found != l.sums.end())
    return found->second;
  Value made = isProduct ? l.e.mul(x, y) : l.e.add(x, y);
  l.sums[key] = made;
  l.remember([&l, key] { l.sums.erase(key); });
  return made;
}

Value memoAdd(Lowering &l, Value x, Value y) {
  if (constantOf(x) == 0)
    return y;
  if (constantOf(y) == 0)
    return x;
  return shared(l, x, y, false);
}

Value memoMul(Lowering &l, Value x, Value y) {
  if (constantOf(x) == 1)
    return y;
  if (constantOf(y) == 1)
    return x;
  if (constantOf(x) == 0 || constantOf(y) == 0)
    return l.index(0);
  return shared(l, x, y, true);
}

Coord shifted(Lowering &l, const Coord &coord, Value offset) {
  Coord result = coord;
  if (coord.vector)
    result.vector = l.e.add(coord.vector, l.e.splat(offset, coord.vector.getType()));
  else if (coord.base)
    result.base = memoAdd(l, coord.base, offset);
  return result;
}

Coord scaled(Lowering &l, const Coord &coord, Value factor) {
  const Emit &e = l.e;
  if (constantOf(factor) == 1 || coord.isUnknown())
    return coord;
  Coord result = coord;
  // A constant factor keeps the lanes at even steps, so that loads need no gather.
  if (auto number = constantOf(factor); number && !coord.vector) {
    result.base = memoMul(l, coord.base, factor);
    result.step *= *number;
    return result;
  }
  if (coord.isUniform()) {
    result.base = memoMul(l, coord.base, factor);
    return result;
  }
  Value positions = positionVector(l, coord, e.b.getIndexType());
  return {{}, 0, e.mul(positions, e.splat(factor, positions.getType()))};
}

Value positionVector(Lowering &l, const Coord &coord, Type scalar) {
  const Emit &e = l.e;
  if (coord.vector)
    return scalar.isIndex() ? coord.vector : e.indexCast(coord.vector, scalar);
  Value base = scalar.isIndex() ? coord.base : e.indexCast(coord.base, scalar);
  // All lanes have the same position, which stays a scalar.
  if (coord.step == 0)
    return base;
  auto type = VectorType::get({l.lanes}, scalar);
  Value numbers;
  if (scalar.isIndex()) {
    SmallVector<int64_t> steps;
    for (int64_t lane = 0; lane < l.lanes; ++lane)
      steps.push_back(lane * coord.step);
    numbers = e.b.create<arith::ConstantOp>(e.loc, DenseIntElementsAttr::get(type, steps));
  } else {
    SmallVector<APInt> steps;
    for (int64_t lane = 0; lane < l.lanes; ++lane)
      steps.push_back(APInt(64, lane * coord.step, true).trunc(scalar.getIntOrFloatBitWidth()));
    numbers = e.b.create<arith::ConstantOp>(e.loc, DenseElementsAttr::get(type, steps));
  }
  return e.add(e.splat(base, type), numbers);
}

Value toLanes(Lowering &l, Value scalar) {
  if (!l.lanes || isa<VectorType>(scalar.getType()))
    return scalar;
  return l.e.splat(scalar, VectorType::get({l.lanes}, scalar.getType()));
}

void withLanes(Lowering &l, int64_t lanes, Value mask, llvm::function_ref<void()> body) {
  int64_t outerLanes = std::exchange(l.lanes, lanes);
  Value outerMask = std::exchange(l.mask, mask);
  body();
  l.lanes = outerLanes;
  l.mask = outerMask;
}

namespace {
/// An address: `pointer` for all lanes, or `offsets` from it per lane. Where lanes are a known number of elements apart, `step` is this
/// number; where this number is known only when the code runs, `distance` is it.
struct Place {
  Value pointer, offsets;
  std::optional<int64_t> step;
  Value distance;
};
} // namespace

static Place placeOf(Lowering &l, const View &view, const Coords &at) {
  const Emit &e = l.e;
  Type stored = storageType(view.element);
  Value offset = l.index(0), perLane, distance = l.index(0);
  // This decides between a vector load and a gather.
  std::optional<int64_t> step = 0;
  for (auto [coord, stride] : llvm::zip(at, view.strides)) {
    // Along a repeated axis all lanes have one element.
    if (constantOf(stride) == 0)
      continue;
    if (!coord.vector)
      // The uniform part is one address for all lanes; only what varies becomes a vector.
      offset = memoAdd(l, offset, memoMul(l, coord.base, stride));
    if (coord.isUniform())
      continue;
    auto number = constantOf(stride);
    step = step && number && !coord.vector ? std::optional(*step + coord.step * *number)
                                           : std::nullopt;
    if (coord.vector)
      distance = {};
    else if (distance)
      distance = memoAdd(l, distance, memoMul(l, l.index(coord.step), stride));
    Coord varying = coord.vector ? coord : Coord{l.index(0), coord.step, {}};
    Value positions = positionVector(l, varying, e.b.getIndexType());
    Value scaled = e.mul(positions, e.splat(stride, positions.getType()));
    perLane = perLane ? e.add(perLane, scaled) : scaled;
  }
  return {elementPointer(e, view.data, stored, offset), perLane, step, distance};
}

Value loadAt(Lowering &l, const View &view, const Coords &at) {
  const Emit &e = l.e;
  Type stored = storageType(view.element);
  Place place = placeOf(l, view, at);
  Value raw;
  if (!place.offsets)
    raw = loadRaw(e, place.pointer, stored, 0);
  else if (place.step == 1) {
    raw = loadRaw(e, place.pointer, stored, l.lanes, l.mask);
    // Only whole vectors are fetched ahead: a gather touches many lines.
    fetchAhead(l, view, place.pointer);
  } else if (auto apart = place.step
                              ? loadApart(e, place.pointer, stored, l.lanes, *place.step, l.mask)
                              : std::nullopt)
    raw = *apart;
  else if (place.distance && !l.mask && loadsByLanes(e, stored))
    raw = loadEvenly(e, place.pointer, stored, l.lanes, place.distance);
  else
    raw = gatherRaw(e, place.pointer, stored, place.offsets, l.mask);
  return fromStorage(e, raw, view.element);
}

void storeAt(Lowering &l, const View &view, const Coords &at, Value value) {
  const Emit &e = l.e;
  Place place = placeOf(l, view, at);
  if (!place.offsets)
    return storeRaw(e, place.pointer, toStorage(e, value, view.element));
  // A uniform value may be stored to many lanes.
  value = toStorage(e, toLanes(l, value), view.element);
  if (place.step == 1)
    storeRaw(e, place.pointer, value, l.mask);
  else if (!place.step || !storeApart(e, place.pointer, value, *place.step, l.mask))
    scatterRaw(e, place.pointer, value, place.offsets, l.mask);
}

// --- loops ---------------------------------------------------------------------------------------

int64_t innerAxis(const Values &extents) {
  for (int64_t axis = static_cast<int64_t>(extents.size()) - 1; axis >= 0; --axis)
    if (constantOf(extents[axis]) != 1)
      return axis;
  return -1;
}

void forAxes(Lowering &l, const Values &extents, ArrayRef<int64_t> axes, Coords &at,
             AtPosition body) {
  if (axes.empty())
    return body(at);
  int64_t axis = axes.front();
  // A loop of one round would only hide that the position is 0.
  if (constantOf(extents[axis]) == 1) {
    at[axis] = Coord{l.index(0)};
    return forAxes(l, extents, axes.drop_front(), at, body);
  }
  l.e.loop(l.index(0), extents[axis], l.index(1), {}, [&](const Emit &, Value i, ValueRange) {
    Scope scope(l);
    at[axis] = Coord{i};
    forAxes(l, extents, axes.drop_front(), at, body);
    return SmallVector<Value>();
  });
}

// Bodies that cost more than this are emitted once, with a mask in every step, instead of twice.
static constexpr int64_t kCostOfOneCopy = 400;

void forLanes(Lowering &l, const Values &extents, int64_t axis, Coords &at, int64_t cost,
              AtPosition body) {
  const Emit &e = l.e;
  Value length = extents[axis];
  auto number = constantOf(length);
  auto run = [&](Value start, Value mask) {
    Scope scope(l);
    at[axis] = Coord{start, 1, {}};
    withLanes(l, l.maxLanes, mask, [&] { body(at); });
  };
  auto maskFrom = [&](Value start) { return laneMask(e, e.sub(length, start), l.maxLanes); };
  // Without positions there is nothing to do, and no code for it.
  if (number == 0)
    return;
  // Less than a vector is one masked step, without a loop.
  if (number && *number < l.maxLanes)
    return run(l.index(0), maskFrom(l.index(0)));
  bool exact = number && *number % l.maxLanes == 0;
  // Masks in every step cost up to two thirds of the speed: they keep loads from being operands and loops from being
  // unrolled. Very long bodies are still emitted only once, where that can be had: it is half the code.
  bool maskedOnly = !exact && l.e.unit.bytes >= 64 && cost > kCostOfOneCopy;
  Value whole = length;
  if (!exact && !maskedOnly)
    whole = e.sub(length, e.b.createOrFold<arith::RemUIOp>(e.loc, length, l.index(l.maxLanes)));
  e.loop(l.index(0), whole, l.index(l.maxLanes), {}, [&](const Emit &, Value i, ValueRange) {
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

Values loopOfVectors(Lowering &l, Value length, int64_t several, Values carried, VectorBody body) {
  const Emit &e = l.e;
  auto number = constantOf(length);
  auto multipleBelow = [&](int64_t unit) {
    // With a known length the remainder needs no code.
    if (number)
      return l.index(*number / unit * unit);
    return e.sub(length, e.b.create<arith::RemUIOp>(e.loc, length, l.index(unit)));
  };
  auto rounds = [&](Value from, Value to, int64_t count) {
    auto results = e.loop(from, to, l.index(count * l.maxLanes), carried,
                          [&](const Emit &, Value i, ValueRange now) {
                            Values starts;
                            for (int64_t n = 0; n < count; ++n)
                              starts.push_back(e.add(i, l.index(n * l.maxLanes)));
                            Values next = body(starts, {}, Values(now));
                            return SmallVector<Value>(next.begin(), next.end());
                          });
    carried.assign(results.begin(), results.end());
  };
  Value done = l.index(0), whole = multipleBelow(l.maxLanes);
  // Too short a row would skip this loop, whose code would be for nothing.
  if (several > 1 && (!number || *number >= several * l.maxLanes)) {
    Value together = multipleBelow(several * l.maxLanes);
    rounds(done, together, several);
    done = together;
  }
  if (!number || *constantOf(done) < *constantOf(whole))
    rounds(done, whole, 1);
  // Whole vectors leave no tail.
  if (number && *constantOf(whole) == *number)
    return carried;
  Value isShort = e.cmpi(arith::CmpIPredicate::slt, whole, length);
  auto tail = [&](const Emit &) -> SmallVector<Value> {
    Values next = body(whole, laneMask(e, e.sub(length, whole), l.maxLanes), carried);
    return SmallVector<Value>(next.begin(), next.end());
  };
  if (number)
    // The tail is known to exist, so it needs no branch.
    return Values(tail(e));
  auto results = e.branch(isShort, TypeRange(ValueRange(carried)), tail, [&](const Emit &) {
    return SmallVector<Value>(carried.begin(), carried.end());
  });
  return Values(results.begin(), results.end());
}

void forAll(Lowering &l, const Values &extents, int64_t cost, ValueRange hoisted, AtPosition body) {
  Coords at(extents.size());
  int64_t inner = innerAxis(extents);
  SmallVector<int64_t> outer;
  for (int64_t axis = 0; axis < static_cast<int64_t>(extents.size()); ++axis)
    if (axis != inner)
      outer.push_back(axis);
  Scope scope(l);
  forAxes(l, extents, outer, at, [&](Coords &at) {
    if (inner < 0)
      return body(at);
    // What does not depend on the unknown inner coordinate is emitted here, in front of the loop.
    at[inner] = Coord();
    for (Value value : hoisted)
      hoist(l, value, broadcastCoords(l, value, at));
    forLanes(l, extents, inner, at, cost, body);
  });
}

} // namespace ptl::cpu
