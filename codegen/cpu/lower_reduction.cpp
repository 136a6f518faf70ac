// Reductions and scans.
#include "codegen/cpu/lower_sort.h"
#include "codegen/cpu/lowering.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

namespace {
enum class Kind : uint8_t { Sum, Prod, Max, Min, Mean, Any, All };

/// How partial results start, take an element, and end.
struct Combiner {
  Kind kind;
  Type elem; ///< logical element type of the operand
  Type acc;  ///< register type of partial results

  Value identity(const Emit &e, Type shape) const;
  Value accept(const Emit &e, Value element) const; ///< operand register → accumulator
  Value combine(const Emit &e, Value x, Value y) const;
  Value horizontal(const Emit &e, Value vector) const;
};
} // namespace

static std::optional<Kind> kindOf(Operation *op) {
  return llvm::StringSwitch<std::optional<Kind>>(op->getName().getStringRef())
      .Cases("ptl.reduce_sum", "ptl.cumsum", Kind::Sum)
      .Cases("ptl.reduce_prod", "ptl.cumprod", Kind::Prod)
      .Cases("ptl.reduce_max", "ptl.cummax", Kind::Max)
      .Cases("ptl.reduce_min", "ptl.cummin", Kind::Min)
      .Case("ptl.reduce_mean", Kind::Mean)
      .Case("ptl.reduce_any", Kind::Any)
      .Case("ptl.reduce_all", Kind::All)
      .Default(std::nullopt);
}

static Combiner makeCombiner(Kind kind, Type elem) {
  bool adds = kind == Kind::Sum || kind == Kind::Prod || kind == Kind::Mean;
  Type acc = registerType(elem);
  if (adds && !acc.isInteger(1) && !acc.isIndex())
    acc = accumulatorType(elem, elem);
  return {kind, elem, acc};
}

Value Combiner::identity(const Emit &e, Type shape) const {
  Type t = withShapeOf(shape, acc);
  bool real = isFloatElem(acc);
  double infinity = std::numeric_limits<double>::infinity();
  unsigned width = acc.isIndex() ? 64 : acc.getIntOrFloatBitWidth();
  switch (kind) {
  case Kind::Sum:
  case Kind::Mean:
  case Kind::Any:
    return e.zero(t);
  case Kind::Prod:
    return real ? e.real(t, 1.0) : e.integer(t, 1);
  case Kind::All:
    return e.integer(t, -1);
  case Kind::Max:
    if (real)
      return e.real(t, -infinity);
    return isUnsigned(elem) ? e.zero(t)
                            : e.integer(t, APInt::getSignedMinValue(width).getSExtValue());
  case Kind::Min:
    if (real)
      return e.real(t, infinity);
    return isUnsigned(elem) ? e.integer(t, -1)
                            : e.integer(t, APInt::getSignedMaxValue(width).getSExtValue());
  }
  llvm_unreachable("unknown reduction");
}

Value Combiner::accept(const Emit &e, Value element) const {
  if (scalarOf(element.getType()) == acc)
    return element;
  return convertElem(e, element, elem, acc);
}

Value Combiner::combine(const Emit &e, Value x, Value y) const {
  switch (kind) {
  case Kind::Sum:
  case Kind::Mean:
    return e.add(x, y);
  case Kind::Prod:
    return e.mul(x, y);
  case Kind::Any:
    return e.bitOr(x, y);
  case Kind::All:
    return e.bitAnd(x, y);
  case Kind::Max:
  case Kind::Min: {
    bool larger = kind == Kind::Max;
    Value first;
    if (isFloatElem(acc))
      first = e.cmpf(larger ? CmpFPredicate::OGT : CmpFPredicate::OLT, y, x);
    else if (isUnsigned(elem))
      first = e.cmpi(larger ? CmpIPredicate::ugt : CmpIPredicate::ult, y, x);
    else
      first = e.cmpi(larger ? CmpIPredicate::sgt : CmpIPredicate::slt, y, x);
    return e.select(first, y, x);
  }
  }
  llvm_unreachable("unknown reduction");
}

// Halves the vector until one lane is left.
Value Combiner::horizontal(const Emit &e, Value vector) const {
  int64_t lanes = laneCount(vector.getType());
  while (lanes > 1) {
    int64_t half = lanes / 2;
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < half; ++lane)
      low.push_back(lane), high.push_back(lane + half);
    Value x = e.b.create<vector::ShuffleOp>(e.loc, vector, vector, low);
    Value y = e.b.create<vector::ShuffleOp>(e.loc, vector, vector, high);
    vector = combine(e, x, y);
    lanes = half;
  }
  return e.b.create<vector::ExtractElementOp>(e.loc, vector, e.index(0));
}

static Value finish(Lowering &l, const Combiner &c, Value sum, Value count, Type result) {
  const Emit &e = l.e;
  if (c.kind == Kind::Mean) {
    Value number = e.sitofp(e.indexCast(count, e.b.getI64Type()), c.acc);
    sum = e.divf(sum, e.splat(number, sum.getType()));
  }
  if (c.acc == registerType(result))
    return sum;
  return convertElem(e, sum, c.acc, result);
}

namespace {
/// One reduction while it is emitted.
struct Reduction {
  Lowering &l;
  Combiner c;
  Value operand;
  Values extents;
  SmallVector<int64_t> axes; // reduced, without the inner one
  int64_t inner;             // axis of vectors, -1: none
  bool horizontal;           // the inner axis is reduced
  int64_t cost;

  Values loopOver(ArrayRef<int64_t> rest, Coords &at, Values sums) const;
  Values innerLoop(Coords &at, Values sums) const;
  Value take(Coords &at, Value sum, Value start, Value mask, int64_t lanes) const;
};
} // namespace

// One step along the inner axis from `start`.
Value Reduction::take(Coords &at, Value sum, Value start, Value mask, int64_t lanes) const {
  at[inner] = Coord{start, 1, {}};
  Value element;
  {
    Lowering::Scope scope(l);
    l.withLanes(lanes, mask, [&] { element = c.accept(l.e, l.toLanes(l.elementAt(operand, at))); });
  }
  Value next = c.combine(l.e, sum, element);
  return mask ? l.e.select(mask, next, sum) : next;
}

Values Reduction::innerLoop(Coords &at, Values sums) const {
  const Emit &e = l.e;
  at[inner] = Coord();
  l.hoist(operand, at);
  Value length = extents[inner];
  int64_t lanes = l.maxLanes;
  auto step = static_cast<int64_t>(sums.size()) * lanes;
  auto number = constantOf(length);
  Value whole = number ? l.index(*number / step * step)
                       : e.sub(length, e.b.create<arith::RemUIOp>(e.loc, length, l.index(step)));
  if (!number || *number >= step) {
    auto results = e.loop(l.index(0), whole, l.index(step), sums,
                          [&](const Emit &, Value i, ValueRange carried) {
                            SmallVector<Value> next;
                            for (auto [n, sum] : llvm::enumerate(carried)) {
                              Value start = e.add(i, l.index(n * lanes));
                              next.push_back(take(at, sum, start, {}, lanes));
                            }
                            return next;
                          });
    sums.assign(results.begin(), results.end());
  }
  if (number && *number % step == 0)
    return sums;
  auto rest = e.loop(whole, length, l.index(lanes), sums[0],
                     [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                       Value mask = laneMask(e, e.sub(length, i), lanes);
                       return {take(at, carried[0], i, mask, lanes)};
                     });
  sums[0] = rest[0];
  return sums;
}

Values Reduction::loopOver(ArrayRef<int64_t> rest, Coords &at, Values sums) const {
  const Emit &e = l.e;
  if (rest.empty()) {
    if (horizontal)
      return innerLoop(at, sums);
    // Lanes along a kept axis, or none at all.
    Value element = c.accept(e, l.elementAt(operand, at));
    if (isa<VectorType>(sums[0].getType()))
      element = l.toLanes(element);
    return {c.combine(e, sums[0], element)};
  }
  int64_t axis = rest.front();
  auto results = e.loop(l.index(0), extents[axis], l.index(1), sums,
                        [&](const Emit &, Value i, ValueRange carried) {
                          Lowering::Scope scope(l);
                          at[axis] = Coord{i};
                          Values next = loopOver(rest.drop_front(), at, Values(carried));
                          return SmallVector<Value>(next.begin(), next.end());
                        });
  return Values(results.begin(), results.end());
}

static SmallVector<int64_t> reducedAxes(Operation *op, int64_t rank) {
  SmallVector<int64_t> axes;
  if (auto list = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    axes.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  if (axes.empty())
    llvm::append_range(axes, llvm::seq<int64_t>(0, rank));
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  return axes;
}

static void reduceInto(Lowering &l, Operation *op, Kind kind,
                       llvm::function_ref<void(const Coords &, Value)> store) {
  Value operand = op->getOperand(0);
  auto type = cast<ir::ArrayType>(operand.getType());
  l.prepare(operand);
  Values extents = l.extentsOf(operand);
  SmallVector<int64_t> reduced = reducedAxes(op, type.getRank());
  Combiner c = makeCombiner(kind, type.getElementType());
  Type resultType = op->getResult(0).getType();
  if (auto array = dyn_cast<ir::ArrayType>(resultType))
    resultType = array.getElementType();
  int64_t inner = l.innerAxis(extents);
  Reduction r{
      l, c, operand, extents, {}, inner, llvm::is_contained(reduced, inner), l.cost(operand)};
  SmallVector<int64_t> kept;
  Value count = l.index(1);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (llvm::is_contained(reduced, axis)) {
      count = l.e.mul(count, extents[axis]);
      if (axis != inner)
        r.axes.push_back(axis);
    } else if (axis != inner) {
      kept.push_back(axis);
    }
  }
  Coords at(type.getRank());
  auto body = [&](Coords &at) {
    Coords to = at;
    int64_t unroll = r.horizontal && r.cost <= 6 ? 4 : 1;
    int64_t lanes = r.horizontal ? l.maxLanes : l.lanes();
    Type shape = lanes ? Type(VectorType::get({lanes}, c.acc)) : c.acc;
    Values sums = r.loopOver(r.axes, at, Values(unroll, c.identity(l.e, shape)));
    Value sum = sums[0];
    for (Value other : ArrayRef(sums).drop_front())
      sum = c.combine(l.e, sum, other);
    if (r.horizontal)
      sum = c.horizontal(l.e, sum);
    for (int64_t axis : reduced)
      to[axis] = Coord{l.index(0)};
    store(to, finish(l, c, sum, count, resultType));
  };
  Lowering::Scope scope(l);
  l.forAxes(extents, kept, at, [&](Coords &at) {
    if (r.horizontal || inner < 0)
      body(at);
    else
      l.forLanes(extents, inner, at, 100, body);
  });
}

// --- argmax, argmin ------------------------------------------------------------------------------

// Whether `x` comes before `best` in the order of the search: NaN first, ties keep the earlier one.
static Value isBetter(const Emit &e, Type elem, bool larger, Value x, Value best) {
  if (!isFloatElem(elem)) {
    auto predicate = isUnsigned(elem) ? (larger ? CmpIPredicate::ugt : CmpIPredicate::ult)
                                      : (larger ? CmpIPredicate::sgt : CmpIPredicate::slt);
    return e.cmpi(predicate, x, best);
  }
  Value beyond = e.cmpf(larger ? CmpFPredicate::OGT : CmpFPredicate::OLT, x, best);
  Value firstNan = e.bitAnd(e.isNan(x), e.bitNot(e.isNan(best)));
  return e.bitOr(beyond, firstNan);
}

static void searchInto(Lowering &l, Operation *op, bool larger,
                       llvm::function_ref<void(const Coords &, Value)> store) {
  const Emit &e = l.e;
  Value operand = op->getOperand(0);
  auto type = cast<ir::ArrayType>(operand.getType());
  l.prepare(operand);
  Values extents = l.extentsOf(operand);
  Type elem = type.getElementType(), i32 = e.b.getI32Type();
  SmallVector<int64_t> searched, kept;
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  for (int64_t n = 0; n < type.getRank(); ++n)
    (!axis || axis.getInt() == n ? searched : kept).push_back(n);
  Coords at(type.getRank());
  Lowering::Scope scope(l);
  l.forAxes(extents, kept, at, [&](Coords &at) {
    Combiner order{larger ? Kind::Max : Kind::Min, elem, registerType(elem)};
    std::function<Values(ArrayRef<int64_t>, Values)> loops = [&](ArrayRef<int64_t> rest,
                                                                 Values state) -> Values {
      if (rest.empty()) {
        Value x = l.elementAt(operand, at);
        Value none = e.cmpi(CmpIPredicate::slt, state[1], 0);
        Value take = e.bitOr(none, isBetter(e, elem, larger, x, state[0]));
        return {e.select(take, x, state[0]), e.select(take, state[2], state[1]),
                e.add(state[2], e.integer(i32, 1))};
      }
      auto results = e.loop(l.index(0), extents[rest.front()], l.index(1), state,
                            [&](const Emit &, Value i, ValueRange carried) {
                              Lowering::Scope inner(l);
                              at[rest.front()] = Coord{i};
                              Values next = loops(rest.drop_front(), Values(carried));
                              return SmallVector<Value>(next.begin(), next.end());
                            });
      return Values(results.begin(), results.end());
    };
    Value start = order.identity(e, registerType(elem));
    Values found = loops(searched, {start, e.integer(i32, -1), e.integer(i32, 0)});
    Coords to = at;
    for (int64_t n : searched)
      to[n] = Coord{l.index(0)};
    store(to, found[1]);
  });
}

// --- facts about data ----------------------------------------------------------------------------

// `sorted(x)`: no element is below the one before it.
static Value sortedFact(Lowering &l, Operation *op) {
  const Emit &e = l.e;
  View view = l.requireView(op->getOperand(0));
  auto result = e.loop(l.index(1), view.extents[0], l.index(1), e.boolean(true),
                       [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
                         Lowering::Scope scope(l);
                         Value now = l.loadAt(view, {Coord{i}});
                         Value before = l.loadAt(view, {Coord{e.sub(i, l.index(1))}});
                         auto predicate =
                             isUnsigned(view.element) ? CmpIPredicate::ule : CmpIPredicate::sle;
                         return {e.bitAnd(carried[0], e.cmpi(predicate, before, now))};
                       });
  return result[0];
}

static bool reduceBy(Lowering &l, Operation *op,
                     llvm::function_ref<void(const Coords &, Value)> store) {
  if (!op->getName().getStringRef().starts_with("ptl.reduce_"))
    return false;
  if (isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op))
    searchInto(l, op, isa<ir::ReduceArgmaxOp>(op), store);
  else
    reduceInto(l, op, *kindOf(op), store);
  return true;
}

bool Lowering::produceReduction(Operation *op, const View &dest) {
  return reduceBy(*this, op, [&](const Coords &at, Value value) { storeAt(dest, at, value); });
}

Value Lowering::scalarResult(Operation *op) {
  if (isa<ir::SortedOp>(op))
    return sortedFact(*this, op);
  if (isa<ir::UniqueOp>(op))
    return uniqueFact(*this, op);
  if (isa<ir::MatmulOp, ir::EinsumOp>(op)) {
    Type elem = op->getResult(0).getType();
    View cell = allocate(elem, {});
    produceProduct(op, cell, false);
    return loadAt(cell, {});
  }
  Value result;
  if (reduceBy(*this, op, [&](const Coords &, Value value) { result = value; }))
    return result;
  return {};
}

// --- scans ---------------------------------------------------------------------------------------

bool Lowering::produceScan(Operation *op, const View &dest) {
  if (!op->getName().getStringRef().starts_with("ptl.cum"))
    return false;
  Value operand = op->getOperand(0);
  prepare(operand);
  auto type = cast<ir::ArrayType>(operand.getType());
  int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  Combiner c = makeCombiner(*kindOf(op), type.getElementType());
  Values extents = extentsOf(operand);
  int64_t inner = innerAxis(extents);
  SmallVector<int64_t> others;
  for (int64_t n = 0; n < type.getRank(); ++n)
    if (n != axis && n != inner)
      others.push_back(n);
  auto run = [&](Coords &at) {
    Type shape = lanes_ ? Type(VectorType::get({lanes_}, c.acc)) : c.acc;
    e.loop(index(0), extents[axis], index(1), c.identity(e, shape),
           [&](const Emit &, Value i, ValueRange carried) -> SmallVector<Value> {
             Scope scope(*this);
             at[axis] = Coord{i};
             Value element = c.accept(e, toLanes(elementAt(operand, at)));
             Value next = c.combine(e, carried[0], element);
             storeAt(dest, at, finish(*this, c, next, {}, type.getElementType()));
             return {next};
           });
  };
  Coords at(type.getRank());
  Scope scope(*this);
  forAxes(extents, others, at, [&](Coords &at) {
    if (inner == axis || inner < 0)
      run(at);
    else
      forLanes(extents, inner, at, 100, run);
  });
  return true;
}

} // namespace ptl::cpu
