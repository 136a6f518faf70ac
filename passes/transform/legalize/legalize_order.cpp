// Orderings of element types that the sort instruction does not take, by orderings of `f32`.

#include "passes/transform/legalize/legalize_order.h"
#include "ir/dialect/make_op.h"

#include <numeric>

using namespace mlir;

namespace ptl::ir::legalize {

static int64_t lastAxis(Value x) { return rankOf(x.getType()) - 1; }

static int64_t orderedAxis(Operation *op) {
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return axis ? axis.getInt() : lastAxis(op->getOperand(0));
}

/// Whether the instruction can order the elements of `x`, directly or by way of `f32`. An axis of
/// one element is in order.
static bool isOrdered(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  Type type = elem(x);
  return !isBool(type) && type.getIntOrFloatBitWidth() <= 32 && t.target.has("tsort32", t.f32()) &&
         lastAxis(x) >= 0 && !extentsOf(x.getType())[static_cast<size_t>(orderedAxis(op))].isOne();
}

/// Whether it does so along the last axis by way of `f32`, which the instruction takes.
static bool isOrderedAsFloats(const Tiles &t, Operation *op) {
  Value x = op->getOperand(0);
  return !elem(x).isF32() && isOrdered(t, op) && orderedAxis(op) == lastAxis(x);
}

/// The instruction orders rows, so another axis changes places with the last one before and after.
static bool isTurned(const Tiles &t, Operation *op) {
  return isOrdered(t, op) && orderedAxis(op) != lastAxis(op->getOperand(0));
}

static Value turned(const Tiles &t, Operation *op, Value x) {
  llvm::SmallVector<int64_t> axes(static_cast<size_t>(rankOf(x.getType())));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<size_t>(orderedAxis(op))], axes.back());
  return t.transpose(x, axes);
}

static bool isWideInteger(Type type) { return intBits(type) == 32; }

static Value gather(const Tiles &t, Value x, Value places) {
  return t.make(GatherOp::getOperationName(), elem(x), {x, places},
                {t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(rankOf(x.getType()) - 1))});
}

/// A `sort` or `argsort` along the last axis.
static Value ordered(const Tiles &t, llvm::StringRef name, Type element, Value x, bool descending) {
  return t.make(name, element, {x},
                {t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(lastAxis(x))),
                 t.r.getNamedAttr("descending", t.r.getBoolAttr(descending))});
}

static Value argsort(const Tiles &t, Value x, bool descending) {
  return ordered(t, ArgsortOp::getOperationName(), t.i32(), x, descending);
}

static bool isDescending(Operation *op) {
  auto flag = op->getAttrOfType<BoolAttr>("descending");
  return isa<TopkOp>(op) || (flag && flag.getValue());
}

/// Positions in order. `f32` holds 24 bits: 32 are ordered by the low half first, then by the high
/// half, which keeps the order of equal ones.
static Value orderOf(const Tiles &t, Value x, bool descending) {
  if (elem(x).isF32())
    return argsort(t, x, descending);
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

static Value sorted(const Tiles &t, Value x, bool descending) {
  if (isWideInteger(elem(x)))
    return gather(t, x, orderOf(t, x, descending));
  // Narrow types convert to `f32` without loss and back.
  Value keys = elem(x).isF32() ? x : t.convert(x, t.f32());
  Value result = ordered(t, SortOp::getOperationName(), t.f32(), keys, descending);
  return elem(x).isF32() ? result : t.convert(result, elem(x));
}

static Value rewrite(const Tiles &t, Operation *op, Value (*rows)(const Tiles &, Value, bool)) {
  Value x = op->getOperand(0);
  if (isTurned(t, op))
    return turned(t, op, rows(t, turned(t, op, x), isDescending(op)));
  return isOrderedAsFloats(t, op) ? rows(t, x, isDescending(op)) : Value();
}

static Value rewriteArgsort(const Tiles &t, Operation *op) { return rewrite(t, op, orderOf); }

static Value rewriteSort(const Tiles &t, Operation *op) { return rewrite(t, op, sorted); }

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
  Value values = makeOp<GatherOp>(t.r, t.loc, op->getResult(0).getType(), {x, top},
                                  {t.r.getNamedAttr("axis", t.r.getI64IntegerAttr(last))});
  t.r.replaceOp(op, {values, top});
  return true;
}

} // namespace ptl::ir::legalize
