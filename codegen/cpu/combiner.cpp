// Identities, combinations and results of reductions and scans.
#include "codegen/cpu/combiner.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

std::optional<Kind> kindOf(Operation *op) {
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

Combiner makeCombiner(Kind kind, Type elem) {
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

Value Combiner::finish(const Emit &e, Value sum, Value count, Type result) const {
  if (kind == Kind::Mean) {
    Value number = e.sitofp(e.indexCast(count, e.b.getI64Type()), acc);
    sum = e.divf(sum, e.splat(number, sum.getType()));
  }
  if (acc == registerType(result))
    return sum;
  return convertElem(e, sum, acc, result);
}

} // namespace ptl::cpu
