// Identities, combinations and results of reductions and scans.
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/microkernel.h"
#include "ir/dialect/element_types.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

Combiner combinerOf(Operation *op, Type elem) {
  OpId kind = *ir::loweringOf(op)->combiner;
  // Sums and products of narrow elements would lose digits or wrap in the type of the elements.
  bool adds = kind == OpId::Add || kind == OpId::Mul;
  Type acc = registerType(elem);
  if (adds && !acc.isInteger(1) && !acc.isIndex())
    acc = accumulatorType(elem, elem);
  return {kind, elem, acc, isa<ir::ReduceMeanOp>(op)};
}

Type storedAs(const Combiner &c) {
  // Float accumulators are stored as they are, or a small float would be rounded at each step.
  return c.acc == registerType(c.elem) && !isFloatElem(c.elem) ? c.elem : c.acc;
}

Combiner combinerNamed(StringRef how, Type elem) {
  return {*ir::combinerNamed(how), elem, registerType(elem)};
}

Value Combiner::identity(const Emit &e, Type shape) const {
  Type t = withShapeOf(shape, acc);
  // Floats are registers of their own; integers have their signs from the elements.
  bool real = isFloatElem(acc);
  Scalar value = identityOf(kind, ir::elemKindOf(real ? acc : elem));
  return real ? e.real(t, value.f) : e.integer(t, value.i);
}

Value Combiner::accept(const Emit &e, Value element) const {
  if (scalarOf(element.getType()) == acc)
    return element;
  return convertElem(e, element, elem, acc);
}

Value Combiner::combine(const Emit &e, Value x, Value y) const {
  switch (kind) {
  case OpId::Add:
    return e.add(x, y);
  case OpId::Mul:
    return e.mul(x, y);
  case OpId::Or:
    return e.bitOr(x, y);
  case OpId::And:
    return e.bitAnd(x, y);
  case OpId::Max:
  case OpId::Min: {
    bool larger = kind == OpId::Max;
    Value first;
    if (isFloatElem(acc))
      // An ordered comparison is false for NaN, so that a NaN in `y` never replaces `x`.
      first = e.cmpf(larger ? CmpFPredicate::OGT : CmpFPredicate::OLT, y, x);
    else if (isUnsigned(elem))
      first = e.cmpi(larger ? CmpIPredicate::ugt : CmpIPredicate::ult, y, x);
    else
      first = e.cmpi(larger ? CmpIPredicate::sgt : CmpIPredicate::slt, y, x);
    return e.select(first, y, x);
  }
  default:
    break;
  }
  llvm_unreachable("unknown reduction");
}

// Halves the vector until one lane is left.
Value Combiner::horizontal(const Emit &e, Value vector) const {
  int64_t lanes = laneCount(vector.getType());
  // This takes log2(lanes) steps, where an ordered reduction would take one for each lane.
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

Value Combiner::finish(const Emit &e, Value sum, Value count, Type result) const {
  if (isMean) {
    Value number = e.sitofp(e.indexCast(count, e.b.getI64Type()), acc);
    sum = e.divf(sum, e.splat(number, sum.getType()));
  }
  if (acc == registerType(result))
    return sum;
  return convertElem(e, sum, acc, result);
}

} // namespace ptl::cpu
