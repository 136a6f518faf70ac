// Identities, combinations and results of reductions and scans.
#include "codegen/cpu/combiner.h"
#include "codegen/cpu/microkernel.h"

#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace ptl::cpu {

std::optional<CombineKind> kindOf(Operation *op) {
  return llvm::StringSwitch<std::optional<CombineKind>>(op->getName().getStringRef())
      .Cases("ptl.reduce_sum", "ptl.cumsum", CombineKind::Sum)
      .Cases("ptl.reduce_prod", "ptl.cumprod", CombineKind::Prod)
      .Cases("ptl.reduce_max", "ptl.cummax", CombineKind::Max)
      .Cases("ptl.reduce_min", "ptl.cummin", CombineKind::Min)
      .Case("ptl.reduce_mean", CombineKind::Mean)
      .Case("ptl.reduce_any", CombineKind::Any)
      .Case("ptl.reduce_all", CombineKind::All)
      .Default(std::nullopt);
}

Combiner makeCombiner(CombineKind kind, Type elem) {
  bool adds = kind == CombineKind::Sum || kind == CombineKind::Prod || kind == CombineKind::Mean;
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
  case CombineKind::Sum:
  case CombineKind::Mean:
  case CombineKind::Any:
    return e.zero(t);
  case CombineKind::Prod:
    return real ? e.real(t, 1.0) : e.integer(t, 1);
  case CombineKind::All:
    return e.integer(t, -1);
  case CombineKind::Max:
    if (real)
      return e.real(t, -infinity);
    return isUnsigned(elem) ? e.zero(t)
                            : e.integer(t, APInt::getSignedMinValue(width).getSExtValue());
  case CombineKind::Min:
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
  case CombineKind::Sum:
  case CombineKind::Mean:
    return e.add(x, y);
  case CombineKind::Prod:
    return e.mul(x, y);
  case CombineKind::Any:
    return e.bitOr(x, y);
  case CombineKind::All:
    return e.bitAnd(x, y);
  case CombineKind::Max:
  case CombineKind::Min: {
    bool larger = kind == CombineKind::Max;
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
  if (kind == CombineKind::Mean) {
    Value number = e.sitofp(e.indexCast(count, e.b.getI64Type()), acc);
    sum = e.divf(sum, e.splat(number, sum.getType()));
  }
  if (acc == registerType(result))
    return sum;
  return convertElem(e, sum, acc, result);
}

} // namespace ptl::cpu
