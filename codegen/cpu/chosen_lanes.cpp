// Positions that are computed from positions are often runs: rolled rows, rows backwards, images that are enlarged. One comparison of a
// vector finds that, and the load of a run is many times as fast as a gather. In tables that data looks up, runs are rare, and the
// comparison would take a fifth of the gather's time.
#include "codegen/cpu/chosen_lanes.h"

#include "codegen/cpu/elements.h"
#include "codegen/cpu/lower_shape.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "ir/dialect/host_views.h"
#include "passes/analysis/affine_positions.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace ptl::cpu {

namespace {
/// One vector of positions along one axis, at the same place along the other ones.
struct ChosenLanes {
  Lowering &l;
  const View &view;
  const Coords &at;
  size_t axis;
  Value numbers; ///< the positions as they are compared: in 32 bits where these hold all of them

  /// The elements that begin at the coordinate, or stand at its vector.
  Value load(const Coord &coord) const {
    // What is computed on one way is not there on the other.
    Scope scope(l);
    Coords from = at;
    from[axis] = coord;
    return loadAt(l, view, from);
  }
  Value lane(int64_t number) const {
    return l.e.b.create<vector::ExtractElementOp>(l.e.loc, numbers, l.e.i32(number));
  }
  Value asIndex(Value number) const { return l.e.indexCast(number, l.e.b.getIndexType()); }
  Value counted() const { return laneNumbers(l.e, l.lanes, ptl::cpu::scalarOf(numbers.getType())); }
  Value splat(Value number) const { return l.e.splat(number, numbers.getType()); }
  Value isRun() const;
  bool mayPermute() const;
  Value permuted(Value base, Value span, Value offsets) const;
  Value loadClose(Type type) const;
};
} // namespace

static Value holdEverywhere(const Emit &e, Value lanes) {
  return e.b.create<vector::ReductionOp>(e.loc, vector::CombiningKind::AND, lanes);
}

// Whether each lane's position is the next one after that of the lane before it.
Value ChosenLanes::isRun() const {
  const Emit &e = l.e;
  Value follows = e.cmpi(CmpIPredicate::eq, numbers, e.add(splat(lane(0)), counted()));
  // Lanes that are off do not count. Where the first one is off, its number is any, and the others hardly follow it: they are gathered.
  if (l.mask)
    follows = e.bitOr(follows, e.bitNot(l.mask));
  return holdEverywhere(e, follows);
}

// Whether the lanes of one vector can be chosen by another one in one instruction.
bool ChosenLanes::mayPermute() const {
  Type numberType = ptl::cpu::scalarOf(numbers.getType());
  return l.e.unit.bytes >= 32 && !l.mask && l.lanes == l.e.unit.bytes / 4 &&
         numberType.isInteger(32) && storageType(view.element).getIntOrFloatBitWidth() == 32;
}

Value ChosenLanes::permuted(Value base, Value span, Value offsets) const {
  const Emit &e = l.e;
  Scope scope(l);
  Coords from = at;
  from[axis] = Coord{asIndex(base), 1, {}};
  Value part;
  // Lanes behind the last position are not loaded, as they may lie beyond the array.
  Value within = e.cmpi(CmpIPredicate::ule, counted(), splat(span));
  withLanes(l, l.lanes, within, [&] { part = loadAt(l, view, from); });
  Type floats = VectorType::get({l.lanes}, e.b.getF32Type());
  Value bits = e.bitcast(part, e.b.getF32Type());
  Value chosen = l.e.unit.bytes >= 64
                     ? e.intrinsic("llvm.x86.avx512.permvar.sf.512", floats, {bits, offsets})
                     : e.intrinsic("llvm.x86.avx2.permps", floats, {bits, offsets});
  return e.bitcast(chosen, ptl::cpu::scalarOf(part.getType()));
}

// Where the positions rise or fall and no vector is as long as from the first to the last one, one vector has all of them. Otherwise
// they are gathered.
Value ChosenLanes::loadClose(Type type) const {
  const Emit &e = l.e;
  Value first = lane(0), last = lane(l.lanes - 1);
  Value base = e.b.create<arith::MinSIOp>(e.loc, first, last);
  Value span = e.sub(e.b.create<arith::MaxSIOp>(e.loc, first, last), base);
  Value offsets = e.sub(numbers, splat(base));
  Value inside = holdEverywhere(e, e.cmpi(CmpIPredicate::ule, offsets, splat(span)));
  Value isClose = e.bitAnd(e.cmpi(CmpIPredicate::ult, span, l.lanes), inside);
  return e.branch(
      isClose, type,
      [&](const Emit &) { return SmallVector<Value>{permuted(base, span, offsets)}; },
      [&](const Emit &) { return SmallVector<Value>{load({{}, 0, asIndex(numbers)})}; })[0];
}

// A computation of more operations is hardly one of positions alone, and the search has to end.
static constexpr int kMostSteps = 64;

// Whether numbers are computed from positions (`index`), here or where the storage is filled that they are loaded from.
static bool comeFromPositions(Value numbers, int &steps) {
  Operation *op = numbers.getDefiningOp();
  if (!op || --steps < 0)
    return false;
  auto come = [&](Value value) {
    return isa<ir::ArrayType>(value.getType()) && comeFromPositions(value, steps);
  };
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return llvm::any_of(ir::usesOfElements(ir::storageUnder(load.getRef())), [&](Operation *user) {
      auto store = dyn_cast<ir::StoreOp>(user);
      return store && come(store.getValue());
    });
  return isa<ir::IndexOp>(op) || llvm::any_of(op->getOperands(), come);
}

static bool standsStill(const Coords &at, size_t axis) {
  return llvm::all_of(llvm::enumerate(at),
                      [&](auto pair) { return pair.index() == axis || pair.value().isUniform(); });
}

Value loadChosen(Lowering &l, const View &view, const Coords &at, size_t axis, Value array,
                 Value positions) {
  const Emit &e = l.e;
  Type type = arrayType(array).getElementType();
  Value vector = convertElem(e, positions, type, e.b.getIndexType());
  int steps = kMostSteps;
  bool comparable = isa<VectorType>(vector.getType()) && laneCount(vector.getType()) == l.lanes &&
                    constantOf(view.strides[axis]) == 1 && standsStill(at, axis) &&
                    comeFromPositions(array, steps);
  // Positions of 32 bits that passed the end of their type would be negative, which no position is.
  bool narrow = type.isInteger(32) && !isUnsigned(type);
  ChosenLanes lanes{l, view, at, axis, narrow ? positions : vector};
  if (!comparable)
    return lanes.load(isa<VectorType>(vector.getType()) ? Coord{{}, 0, vector} : Coord{vector});
  Type result = VectorType::get({l.lanes}, registerType(view.element));
  auto chosen = [&](const Emit &) -> SmallVector<Value> {
    if (lanes.mayPermute())
      return {lanes.loadClose(result)};
    return {lanes.load({{}, 0, vector})};
  };
  Value first = lanes.lane(0);
  return e.branch(
      lanes.isRun(), result,
      [&](const Emit &) { return SmallVector<Value>{lanes.load({lanes.asIndex(first), 1, {}})}; },
      chosen)[0];
}

// --- positions that count evenly

// Where positions count evenly (`x[N - 1 - index(0..N)]`, `x[index(0..N)[:, new] + index(0..16)]`), lanes are a known number of elements
// apart, as those of a slice are. Numbers of 32 bits may wrap on the way, but all positions lie inside of the axis: two of them are as
// far apart as their multiples of the coordinate, or by 2^32 more, which no axis that they count is long.

static std::optional<Coord> evenAt(Lowering &l, Value value, const Coords &at);

// `x + y * sign`, of coordinates whose lanes have known steps.
static Coord sumOf(Lowering &l, const Coord &x, const Coord &y, int64_t sign) {
  Value other = sign < 0 ? l.e.sub(l.index(0), y.base) : y.base;
  return {memoAdd(l, x.base, other), x.step + sign * y.step, {}};
}

static std::optional<Coord> evenSum(Lowering &l, Operation *op, const Coords &at) {
  auto operandAt = [&](unsigned number) {
    Value operand = op->getOperand(number);
    return evenAt(l, operand, broadcastCoords(l, operand, at));
  };
  std::optional<Coord> x = operandAt(0), y = op->getNumOperands() > 1 ? operandAt(1) : x;
  if (!x || !y)
    return std::nullopt;
  if (isa<ir::NegOp>(op))
    return sumOf(l, Coord{l.index(0)}, *x, -1);
  if (!isa<ir::MulOp>(op))
    return sumOf(l, *x, *y, isa<ir::SubOp>(op) ? -1 : 1);
  const Coord &factor = constantOf(y->base) && y->step == 0 ? *y : *x;
  const Coord &scaledBy = &factor == &*y ? *x : *y;
  if (!constantOf(factor.base) || factor.step != 0)
    return std::nullopt;
  return scaled(l, scaledBy, factor.base);
}

// Whether the lanes are so many elements apart that numbers of 32 bits tell them apart.
static bool isShort(const std::optional<Coord> &coord) {
  return coord && std::abs(coord->step) <= ir::kMostEvenStep;
}

static std::optional<Coord> evenAt(Lowering &l, Value value, const Coords &at) {
  if (isScalar(value))
    return Coord{l.e.indexCast(scalarOf(l, value), l.e.b.getIndexType())};
  Operation *op = value.getDefiningOp();
  if (!op || l.views.count(value))
    return std::nullopt;
  std::optional<Coord> found;
  if (auto source = sourceOf(l, op, 0, at))
    found = evenAt(l, source->first, source->second);
  else if (auto index = dyn_cast<ir::IndexOp>(op))
    found = at[0].base && !at[0].vector ? shifted(l, at[0], scalarOf(l, index.getStart()))
                                        : std::optional<Coord>();
  else if (isa<ir::AddOp, ir::SubOp, ir::MulOp, ir::NegOp>(op))
    found = evenSum(l, op, at);
  return isShort(found) ? found : std::nullopt;
}

std::optional<Coord> evenPosition(Lowering &l, Value positions, const Coords &at) {
  if (l.views.count(positions) || !ir::arePositionsEven(positions))
    return std::nullopt;
  std::optional<Coord> found = evenAt(l, positions, at);
  if (!found)
    return std::nullopt;
  // The number that stands in the array is that of its own type.
  Type element = arrayType(positions).getElementType();
  found->base = l.e.indexCast(l.e.indexCast(found->base, element), l.e.b.getIndexType());
  return found;
}

} // namespace ptl::cpu
