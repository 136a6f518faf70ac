// Orderings of element types that the sort instruction does not take, by orderings of `f32`.
#include "passes/transform/legalize/legalize.h"

using namespace mlir;

namespace ptl::ir::legalize {

/// Whether the instruction can order the last axis of `x` by way of `f32`.
static bool isOrderedAsFloats(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  Type type = elem(x);
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  int64_t last = rankOf(x.getType()) - 1;
  // `f32` itself is what the instruction takes. An axis of one element is in order, and other axes
  // are turned before.
  if (type.isF32() || isBool(type) || !t.target.has("tsort32", t.f32()) || last < 0 ||
      extentsOf(x.getType())[static_cast<size_t>(last)].isOne() || (axis && axis.getInt() != last))
    return false;
  return type.getIntOrFloatBitWidth() <= 32;
}

static bool isWideInteger(Type type) { return intBits(type) == 32; }

static Value gather(const Tiles &t, Value x, Value places) {
  return t.make(GatherOp::getOperationName(), elem(x), {x, places},
                {t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(rankOf(x.getType()) - 1))});
}

static Value argsort(const Tiles &t, Value x, bool descending) {
  return t.make(ArgsortOp::getOperationName(), t.i32(), {x},
                {t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(rankOf(x.getType()) - 1)),
                 t.r.getNamedAttr("descending", t.r.getBoolAttr(descending))});
}

static bool isDescending(Operation *op) {
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  return isa<TopkOp>(op) || (flag && flag.getValue());
}

/// Positions in order. `f32` holds 24 bits: 32 are ordered by the low half first, then by the high
/// half, which keeps the order of equal ones.
static Value orderOf(const Tiles &t, Value x, bool descending) {
  if (!isWideInteger(elem(x)))
    return argsort(t, t.convert(x, t.f32()), descending);
  if (isUnsigned(elem(x))) // in the order of signed numbers
    // Flipping the sign bit maps unsigned order to signed order.
    x = t.bitXor(t.bitcast(x, t.i32()), -2147483648.0);
  // Both halves fit the 24 bits of an `f32`.
  Value high = t.shr(x, 16), low = t.sub(x, t.shl(high, 16));
  Value byLow = argsort(t, t.convert(low, t.f32()), descending);
  // This is a radix sort with two digits: sorting by the high half is stable, so it keeps the order
  // by the low half.
  Value byHigh = argsort(t, gather(t, t.convert(high, t.f32()), byLow), descending);
  return gather(t, byLow, byHigh);
}

static Value rewriteArgsort(const Tiles &t, Operation *op) {
  return isOrderedAsFloats(t, op) ? orderOf(t, op->getOperand(0), isDescending(op)) : Value();
}

static Value rewriteSort(const Tiles &t, Operation *op) {
  if (!isOrderedAsFloats(t, op))
    return {};
  Value x = op->getOperand(0);
  if (isWideInteger(elem(x)))
    return gather(t, x, orderOf(t, x, isDescending(op)));
  // Narrow types convert to `f32` without loss and back.
  return t.convert(t.cloneWith(op, t.convert(x, t.f32()), t.f32()), elem(x));
}

llvm::ArrayRef<Row> orderRows() {
  static const Row rows[] = {{"sort", rewriteSort}, {"argsort", rewriteArgsort}};
  return rows;
}

bool rewriteTopk(const Tiles &t, Operation *op) {
  if (!isOrderedAsFloats(t, op))
    return false;
  Value x = op->getOperand(0), order = orderOf(t, x, true);
  llvm::SmallVector<Value> offsets, lengths;
  int64_t last = rankOf(x.getType()) - 1;
  for (int64_t axis = 0; axis <= last; ++axis) {
    offsets.push_back(t.index(0));
    lengths.push_back(t.length(x, axis));
  }
  const Extent &kept = extentsOf(op->getResult(1).getType()).back();
  lengths.back() = kept.isConstant() ? t.index(kept.length) : op->getOperand(1);
  Value top = t.r.create<SliceOp>(t.loc, op->getResult(1).getType(), order, offsets, lengths,
                                  ValueRange(), Value(), t.r.getDenseI64ArrayAttr({}));
  OperationState state(t.loc, GatherOp::getOperationName());
  state.addOperands({x, top});
  state.addAttribute("axis", t.r.getI64IntegerAttr(last));
  state.addTypes(op->getResult(0).getType());
  Value values = t.r.create(state)->getResult(0);
  t.r.replaceOp(op, {values, top});
  return true;
}

} // namespace ptl::ir::legalize
