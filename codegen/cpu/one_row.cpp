#include "codegen/cpu/one_row.h"

#include "codegen/cpu/elements.h"
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"
#include "codegen/cpu/streamed_store.h"

using namespace mlir;

namespace ptl::cpu {

// Longer rows gain nothing. Costlier elements would be much code twice.
static constexpr int64_t kLongRow = 4096, kMostCost = 60;
// More arrays than this are too many conditions.
static constexpr size_t kMostViews = 6;

// Whether each element of the value depends on the elements of views at the same position alone. Adds these views.
static bool collect(Lowering &l, Value value, ArrayRef<ir::Extent> extents,
                    SmallVectorImpl<View> &views, llvm::SmallPtrSetImpl<void *> &met) {
  if (isScalar(value) || !met.insert(value.getAsOpaquePointer()).second)
    return true;
  auto type = arrayType(value);
  // A broadcast operand has other positions in the flat row.
  if (!type || type.getExtents() != extents || views.size() > kMostViews)
    return false;
  if (auto view = viewOf(l, value)) {
    views.push_back(*view);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !(isElementwise(op) || isa<ir::CastOp>(op)))
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return collect(l, operand, extents, views, met); });
}

// Whether the length may be that of whole rows: those of the tiles of products and of authors have bounds.
static bool mayBeWhole(const ir::Extent &extent) {
  // A long constant row has little tail to lose.
  if (extent.isConstant())
    return extent.length < kLongRow;
  return extent.capacity == ir::Extent::kUnknown;
}

// Whether the elements of the view follow each other at one distance, from row to row, too; null if that is never so. Every second
// column of a matrix is such a view where their number is even.
static Value isWithoutGaps(Lowering &l, const View &view, const Values &extents) {
  const Emit &e = l.e;
  Value dense, next = view.strides.back();
  // Elements at a distance that is not known take a load each, and so gain nothing.
  if (constantOf(next).value_or(0) == 0)
    return {};
  for (int64_t axis = view.rank() - 1; axis > 0; --axis) {
    next = e.mul(next, extents[axis]);
    // Each axis must be exactly as long as the stride of the axis in front of it.
    Value follows = e.cmpi(arith::CmpIPredicate::eq, view.strides[axis - 1], next);
    dense = dense ? e.bitAnd(dense, follows) : follows;
  }
  return dense;
}

// The rows of a view one after the other, as the last axis.
static View asOneRow(Lowering &l, View view) {
  for (Value &extent : MutableArrayRef<Value>(view.extents).drop_back()) {
    // All but the last axis get one position, so the last one runs over all elements.
    view.extents.back() = l.e.mul(view.extents.back(), extent);
    extent = l.index(1);
  }
  return view;
}

// Whether rows of these arrays may be put together at all. Adds the views that they read.
static bool mayBeOneRow(Lowering &l, ValueRange arrays, int64_t cost,
                        SmallVectorImpl<View> &views) {
  auto type = arrayType(arrays.front());
  llvm::SmallPtrSet<void *, 16> met;
  return type.getRank() >= 2 && cost <= kMostCost &&
         llvm::none_of(type.getExtents(), [](const ir::Extent &e) { return e.isOne(); }) &&
         mayBeWhole(type.getExtents().back()) && llvm::all_of(arrays, [&](Value array) {
           return collect(l, array, type.getExtents(), views, met);
         });
}

void storeAsOneRow(Lowering &l, ValueRange arrays, ArrayRef<View> to, int64_t cost,
                   llvm::function_ref<void(ArrayRef<View>)> store, Value also) {
  const Emit &e = l.e;
  SmallVector<View> views(to);
  if (to.front().rank() != arrayType(arrays.front()).getRank() ||
      !mayBeOneRow(l, arrays, cost, views))
    return store(to);
  Value dense = also;
  for (const View &view : views) {
    Value own = isWithoutGaps(l, view, to.front().extents);
    if (!own)
      return store(to);
    dense = dense ? e.bitAnd(dense, own) : own;
  }
  SmallVector<View> rows;
  for (const View &view : to)
    rows.push_back(asOneRow(l, view));
  auto storing = [&](ArrayRef<View> where) {
    return [&, where](const Emit &) {
      store(where);
      return SmallVector<Value>();
    };
  };
  // Strides are known only when the code runs, so both loops are emitted.
  e.branch(dense, {}, storing(rows), storing(to));
}

} // namespace ptl::cpu
