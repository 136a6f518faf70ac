// Reductions and searches.
#include "codegen/cpu/lower_reduction.h"
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/elements.h"
#include "codegen/cpu/extents.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

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
    Scope scope(l);
    withLanes(l, lanes, mask,
              [&] { element = c.accept(l.e, toLanes(l, elementAt(l, operand, at))); });
  }
  Value next = c.combine(l.e, sum, element);
  return mask ? l.e.select(mask, next, sum) : next;
}

Values Reduction::innerLoop(Coords &at, Values sums) const {
  const Emit &e = l.e;
  at[inner] = Coord();
  hoist(l, operand, at);
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
    Value element = c.accept(e, elementAt(l, operand, at));
    if (isa<VectorType>(sums[0].getType()))
      element = toLanes(l, element);
    return {c.combine(e, sums[0], element)};
  }
  int64_t axis = rest.front();
  auto results = e.loop(l.index(0), extents[axis], l.index(1), sums,
                        [&](const Emit &, Value i, ValueRange carried) {
                          Scope scope(l);
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

static void reduceInto(Lowering &l, Operation *op,
                       llvm::function_ref<void(const Coords &, Value)> store) {
  Value operand = op->getOperand(0);
  auto type = cast<ir::ArrayType>(operand.getType());
  prepare(l, operand);
  Values extents = extentsOf(l, operand);
  SmallVector<int64_t> reduced = reducedAxes(op, type.getRank());
  Combiner c = combinerOf(op, type.getElementType());
  Type resultType = op->getResult(0).getType();
  if (auto array = dyn_cast<ir::ArrayType>(resultType))
    resultType = array.getElementType();
  int64_t inner = innerAxis(extents);
  Reduction r{
      l, c, operand, extents, {}, inner, llvm::is_contained(reduced, inner), costOf(l, operand)};
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
    int64_t lanes = r.horizontal ? l.maxLanes : l.lanes;
    Type shape = lanes ? Type(VectorType::get({lanes}, c.acc)) : c.acc;
    Values sums = r.loopOver(r.axes, at, Values(unroll, c.identity(l.e, shape)));
    Value sum = sums[0];
    for (Value other : ArrayRef(sums).drop_front())
      sum = c.combine(l.e, sum, other);
    if (r.horizontal)
      sum = c.horizontal(l.e, sum);
    for (int64_t axis : reduced)
      to[axis] = Coord{l.index(0)};
    store(to, c.finish(l.e, sum, count, resultType));
  };
  Scope scope(l);
  forAxes(l, extents, kept, at, [&](Coords &at) {
    if (r.horizontal || inner < 0)
      body(at);
    else
      forLanes(l, extents, inner, at, 100, body);
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
  prepare(l, operand);
  Values extents = extentsOf(l, operand);
  Type elem = type.getElementType(), i32 = e.b.getI32Type();
  SmallVector<int64_t> searched, kept;
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  for (int64_t n = 0; n < type.getRank(); ++n)
    (!axis || axis.getInt() == n ? searched : kept).push_back(n);
  Coords at(type.getRank());
  Scope scope(l);
  forAxes(l, extents, kept, at, [&](Coords &at) {
    Combiner order = combinerOf(op, elem);
    std::function<Values(ArrayRef<int64_t>, Values)> loops = [&](ArrayRef<int64_t> rest,
                                                                 Values state) -> Values {
      if (rest.empty()) {
        Value x = elementAt(l, operand, at);
        Value none = e.cmpi(CmpIPredicate::slt, state[1], 0);
        Value take = e.bitOr(none, isBetter(e, elem, larger, x, state[0]));
        return {e.select(take, x, state[0]), e.select(take, state[2], state[1]),
                e.add(state[2], e.integer(i32, 1))};
      }
      auto results = e.loop(l.index(0), extents[rest.front()], l.index(1), state,
                            [&](const Emit &, Value i, ValueRange carried) {
                              Scope inner(l);
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

static bool reduceBy(Lowering &l, Operation *op,
                     llvm::function_ref<void(const Coords &, Value)> store) {
  if (!op->getName().getStringRef().starts_with("ptl.reduce_"))
    return false;
  if (isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op))
    searchInto(l, op, isa<ir::ReduceArgmaxOp>(op), store);
  else
    reduceInto(l, op, store);
  return true;
}

bool produceReduction(Lowering &l, Operation *op, const View &dest) {
  return reduceBy(l, op, [&](const Coords &at, Value value) { storeAt(l, dest, at, value); });
}

Value reducedScalar(Lowering &l, Operation *op) {
  Value result;
  reduceBy(l, op, [&](const Coords &, Value value) { result = value; });
  return result;
}

} // namespace ptl::cpu
