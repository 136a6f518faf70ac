// Views of arrays in global memory.
#include "ir/build/build_view.h"
#include "frontend/sema/type_string.h"
#include "frontend/sema/walk.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_index.h"
#include "ir/build/build_type.h"
#include "ir/dialect/element_types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

namespace {
struct ViewAxis {
  mlir::Value offset, length, dim, stride; ///< where a part begins, how long it is, of what
};
} // namespace

static void noteUse(BuildContext &c, const Local &view, bool isOut) {
  auto &[read, written] = c.manual->uses[c.manual->tensors[&view]];
  (isOut ? written : read) = true;
}

static mlir::Value pointerOf(BuildContext &c, const Local &local, bool isOut) {
  auto &[read, written] = c.manual->uses[&local];
  (isOut ? written : read) = true;
  // A tensor has one pointer in each grid, at its beginning.
  PointerOp &pointer = c.manual->pointers[&local];
  if (!pointer) {
    OpBuilder::InsertionGuard guard(c.b);
    mlir::Block &body = c.manual->grid.getBody().front();
    c.b.setInsertionPointToStart(&body);
    for (mlir::Operation &op : body) // behind those of arrays that were used before
      if (isa<PointerOp>(op))
        c.b.setInsertionPointAfter(&op);
      else
        break;
    mlir::Value array = c.bound(local).value;
    pointer = c.make<PointerOp>(
        c.place, pto::PtrType::get(&c.context, storedType(elementTypeOf(array.getType()))), array,
        c.b.getStringAttr("in"));
  }
  return pointer;
}

TensorView wholeTensor(BuildContext &c, const Expr &expr, bool isOut) {
  auto *ref = dyn_cast<LocalRefExpr>(&expr);
  if (ref)
    if (auto found = c.manual->views.find(ref->local); found != c.manual->views.end()) {
      noteUse(c, *ref->local, isOut);
      return found->second;
    }
  TensorView view;
  if (expr.kind == ExprKind::Block) { // `make_tensor_view(x, offset, shape, strides)`
    // The view of a view is computed from the same pointer.
    const auto &raw = cast<BlockExpr>(expr);
    view = wholeTensor(c, *raw.ins[0], isOut);
    mlir::Value offset = buildValue(c, *raw.ins[1]);
    if (!isZero(offset))
      view.pointer =
          c.make<pto::AddPtrOp>(c.here(expr), view.pointer.getType(), view.pointer, offset);
    view.dims = {emitDim(c, expr.type->extents[0].length),
                 emitDim(c, expr.type->extents[1].length)};
    view.strides = {emitDim(c, expr.type->strides[0]), emitDim(c, expr.type->strides[1])};
    view.transposed = expr.type->layout == ptl::Layout::Dn;
    return view;
  }
  // Views are made of tensors, or of views with a name.
  if (!ref) {
    c.fail(DiagId::NotOnBlockLevel, expr.span, {"a part of a part of a tensor", c.binding.machine});
    return view;
  }
  const Local &local = *ref->local;
  const Type &type = *local.type;
  view.element = storedType(scalarType(c.context, elemKind(c, type.elem)));
  view.name = c.b.getStringAttr(local.name);
  view.pointer = pointerOf(c, local, isOut);
  // A prefix stands in front of the axes.
  if (type.prefix)
    for (Dim length : c.frame->prefix)
      view.dims.push_back(emitRoot(c, length));
  for (const ptl::Extent &extent : type.extents)
    view.dims.push_back(emitDim(c, extent.length));
  view.strides.assign(view.dims.size(), mlir::Value());
  // Without strides an axis is as far apart as all axes behind it take together.
  mlir::Value stride = c.index(1);
  for (size_t axis = view.dims.size(); axis-- > 0;) {
    view.strides[axis] = type.strides.empty() ? stride : emitDim(c, type.strides[axis]);
    stride = c.b.createOrFold<arith::MulIOp>(c.place, stride, view.dims[axis]);
  }
  return view;
}

/// The axes that an index keeps; what it drops goes into `base`, in elements.
static llvm::SmallVector<ViewAxis> viewAxes(BuildContext &c, const TensorView &view,
                                            const IndexExpr *indexing, mlir::Value &base) {
  llvm::SmallVector<ViewAxis> axes;
  size_t axis = 0;
  auto addFull = [&] {
    axes.push_back({c.index(0), view.dims[axis], view.dims[axis], view.strides[axis]});
    ++axis;
  };
  // A position that drops its axis moves the beginning of the view.
  auto skip = [&](mlir::Value position) {
    mlir::Value elements = c.b.createOrFold<arith::MulIOp>(c.place, position, view.strides[axis]);
    base = base ? c.b.createOrFold<arith::AddIOp>(c.place, base, elements) : elements;
  };
  for (const IndexItem &item :
       indexing ? llvm::ArrayRef<IndexItem>(indexing->items) : llvm::ArrayRef<IndexItem>()) {
    switch (item.kind) {
    case IndexItemKind::Position:
      skip(positionOf(c, *item.value));
      ++axis;
      break;
    case IndexItemKind::Range: {
      mlir::Value start = emitDim(c, item.range->start),
                  step = item.range->step ? emitDim(c, item.range->step) : c.index(1);
      ViewAxis own{start, emitDim(c, item.range->length), view.dims[axis], view.strides[axis]};
      if (!constantIs(step, 1)) { // every second row is a matrix of its own
        skip(start);
        own = {c.index(0), own.length, own.length,
               c.b.createOrFold<arith::MulIOp>(c.place, view.strides[axis], step)};
      }
      axes.push_back(own);
      ++axis;
      break;
    }
    case IndexItemKind::Rest:
      for (size_t i = item.restCount + (item.restHasPrefix ? c.frame->prefix.size() : 0); i > 0;
           --i)
        addFull();
      break;
    case IndexItemKind::Full:
      addFull();
      break;
    // A new axis has one position, whose stride does not matter.
    case IndexItemKind::NewAxis:
      axes.push_back({c.index(0), c.index(1), c.index(1), c.index(0)});
      break;
    case IndexItemKind::Gather:
      c.fail(DiagId::NotOnBlockLevel, item.span, {"an index array in a view", c.binding.machine});
      ++axis;
      break;
    }
  }
  // Axes without an index are whole.
  while (axis < view.dims.size())
    addFull();
  return axes;
}

mlir::Value positionOf(BuildContext &c, const Expr &expr) {
  mlir::Value position = buildValue(c, expr);
  if (isa<IndexType>(position.getType()))
    return position;
  return c.make<arith::IndexCastOp>(c.here(expr), c.b.getIndexType(), position);
}

mlir::Value viewOf(BuildContext &c, const Expr &expr, bool isOut) {
  Location loc = c.here(expr);
  // A view with a name was built where it was bound.
  if (expr.kind == ExprKind::LocalRef)
    if (const Local &local = *cast<LocalRefExpr>(expr).local;
        c.bound(local).value && isa<pto::PartitionViewType>(c.bound(local).value.getType())) {
      noteUse(c, local, isOut);
      return c.bound(local).value;
    }
  auto *indexing = dyn_cast<IndexExpr>(&expr);
  TensorView view = wholeTensor(c, indexing ? *indexing->base : expr, isOut);
  if (!view.pointer)
    return {};
  mlir::Value base;
  llvm::SmallVector<ViewAxis> axes = viewAxes(c, view, indexing, base);
  if (axes.size() == 1) // one axis is one row
    axes.insert(axes.begin(), ViewAxis{c.index(0), c.index(1), c.index(1), axes[0].dim});
  if (axes.size() != 2) {
    c.fail(DiagId::ViewAxes, expr.span, {"this view", std::to_string(axes.size()) + " axes"});
    return {};
  }
  if (base && !isZero(base))
    view.pointer = c.make<pto::AddPtrOp>(loc, view.pointer.getType(), view.pointer, base);
  llvm::SmallVector<mlir::Value, 2> shape, strides, offsets, sizes;
  for (const ViewAxis &axis : axes) {
    shape.push_back(axis.dim);
    strides.push_back(axis.stride);
    offsets.push_back(axis.offset);
    sizes.push_back(axis.length);
  }
  pto::ViewLayoutAttr layout;
  if (view.transposed)
    layout = pto::ViewLayoutAttr::get(&c.context, pto::ViewLayout::dn);
  llvm::SmallVector<int64_t> viewShape{extentOf(shape[0]), extentOf(shape[1])};
  mlir::Value tensor = c.make<pto::MakeTensorViewOp>(
      NameLoc::get(view.name, loc), pto::TensorViewType::get(&c.context, viewShape, view.element),
      view.pointer, shape, strides, layout);
  llvm::SmallVector<int64_t> boxShape{extentOf(sizes[0]), extentOf(sizes[1])};
  return c.make<pto::PartitionViewOp>(
      loc, pto::PartitionViewType::get(&c.context, boxShape, view.element), tensor, offsets, sizes);
}

Bound loadElement(BuildContext &c, const IndexExpr &expr) {
  TensorView view = wholeTensor(c, *expr.base, false);
  mlir::Value base;
  if (!view.pointer)
    return {};
  viewAxes(c, view, &expr, base);
  return Bound::of(
      loadScalar(c, view, base ? base : c.index(0), elemKind(c, expr.type->elem), c.here(expr)));
}

mlir::Value loadScalar(BuildContext &c, const TensorView &view, mlir::Value offset, ElemKind elem,
                       Location loc) {
  mlir::Value read = c.make<pto::LoadScalarOp>(loc, view.element, view.pointer, offset);
  if (elem != ElemKind::Bool)
    return read;
  mlir::Value none = c.make<arith::ConstantOp>(loc, c.b.getIntegerAttr(view.element, 0));
  return c.make<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, read, none);
}

void storeScalar(BuildContext &c, const TensorView &view, mlir::Value offset, mlir::Value value,
                 Location loc) {
  if (value.getType() != view.element)
    value = c.make<arith::ExtUIOp>(loc, view.element, value);
  c.make<pto::StoreScalarOp>(loc, view.pointer, offset, value);
}

void storeElement(BuildContext &c, const IndexExpr &place, const Expr &value) {
  TensorView view = wholeTensor(c, *place.base, true);
  mlir::Value base;
  if (!view.pointer)
    return;
  // All axes are positions, so only the offset remains.
  viewAxes(c, view, &place, base);
  storeScalar(c, view, base ? base : c.index(0), buildValue(c, value), c.location(place.span));
}

bool buildManualLet(BuildContext &c, const LetStmt &stmt) {
  if (!c.manual || !stmt.value || stmt.locals.size() != 1 || !stmt.locals[0]->type->isArray())
    return false;
  const Local &local = *stmt.locals[0];
  auto *raw = stmt.value->kind == ExprKind::Block ? cast<BlockExpr>(stmt.value) : nullptr;
  // The use is counted for the tensor behind the view.
  const Local *tensor = rootLocal(raw && !raw->ins.empty() ? raw->ins[0] : stmt.value);
  if (auto found = c.manual->tensors.find(tensor); found != c.manual->tensors.end())
    tensor = found->second;
  c.manual->tensors[&local] = tensor;
  // A view that nobody uses must not count as a use.
  auto uses = c.manual->uses; // whether it is read or written is seen where it is used
  if (raw) {
    TensorView view = wholeTensor(c, *stmt.value, false);
    view.name = c.b.getStringAttr(local.name);
    c.manual->views[&local] = view;
  } else {
    c.bound(local) = Bound::of(viewOf(c, *stmt.value, false));
  }
  c.manual->uses = uses;
  return true;
}

} // namespace ptl::ir
