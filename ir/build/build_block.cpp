// What stands in manual kernels: buffers, tiles, views, instructions, events, queues.
#include "frontend/sema/type_string.h"
#include "frontend/sema/walk.h"
#include "ir/build/manual.h"
#include "ir/dialect/cross_core.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

static Location named(MLIRContext &context, const std::string &name, Location loc) {
  return name.empty() ? loc : Location(NameLoc::get(StringAttr::get(&context, name), loc));
}

static int64_t extentOf(mlir::Value value) {
  IntegerAttr number;
  return matchPattern(value, m_Constant(&number)) ? number.getInt() : pto::kDynamic;
}

static bool isZero(mlir::Value value) { return matchPattern(value, m_Zero()); }

// ---- Types --------------------------------------------------------------------------------------

static std::string layoutFor(const Type &type, const Machine &machine) {
  if (type.place == ptl::Place::Acc)
    return "acc";
  if (type.layout != ptl::Layout::Inferred)
    return std::string(layoutName(type.layout));
  switch (type.place) {
  case ptl::Place::Mat:
    return "nz";
  case ptl::Place::Right:
    return "zn";
  case ptl::Place::Left: {
    const MemorySpace *left = machine.space("left");
    return left ? std::string(left->usualLayout()) : "zz";
  }
  default:
    return "nd";
  }
}

/// The type of a tile, with the valid part that the checker knows.
pto::TileBufType Builder::tileType(const Type &type) {
  int64_t capacity[2], valid[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const ptl::Extent &extent = type.extents[axis];
    capacity[axis] = constantDim(extent.capacity ? extent.capacity : extent.length).value_or(1);
    valid[axis] = constantDim(extent.length).value_or(pto::kDynamic);
  }
  mlir::Type element = scalarType(context_, elemKind(type.elem));
  return pto::TileBufType::get(&context_, static_cast<Place>(type.place), capacity[0], capacity[1],
                               element, valid[0], valid[1],
                               *pto::layoutByName(layoutFor(type, *manual_->machine)));
}

// ---- Declarations -------------------------------------------------------------------------------

void Builder::buildBlockDecl(const BlockDeclStmt &stmt) {
  Local &local = *stmt.local;
  if (local.kind == LocalKind::Event)
    return;
  Location loc = named(context_, local.name, location(stmt.span));
  if (local.kind == LocalKind::Pipe)
    return buildQueue(local, loc);
  pto::TileBufType type = tileType(*local.type);
  Dim at = local.object->address;
  std::optional<int64_t> bytes = at ? constantDim(at) : std::nullopt;
  mlir::Value address;
  if (bytes)
    address = make<arith::ConstantIntOp>(loc, *bytes, 64);
  if (!local.object->count)
    bound(local) =
        Bound::of(make<pto::AllocTileOp>(loc, type, address, mlir::Value(), mlir::Value()));
  else
    bound(local) = Bound::of(make<pto::AllocMultiTileOp>(
        loc,
        pto::MultiTileBufType::get(&context_, type, constantDim(local.object->count).value_or(1)),
        address));
}

void Builder::buildQueue(Local &local, Location loc) {
  const BlockObject &object = *local.object;
  pto::TileBufType whole = tileType(*local.type);
  int64_t bytes = pto::slotBytes(whole.getRows(), whole.getCols(), whole.getElementType());
  int64_t part = object.split && object.toVector ? bytes / 2 : bytes;
  auto number = [&](Dim dim) {
    std::optional<int64_t> value = dim ? constantDim(dim) : std::nullopt;
    return value ? builder_.getI64IntegerAttr(*value) : IntegerAttr();
  };
  bound(local) = Bound::of(make<QueueOp>(
      loc, pto::PipeHandleType::get(&context_), builder_.getStringAttr(local.name),
      builder_.getBoolAttr(object.toVector), builder_.getI64IntegerAttr(bytes),
      builder_.getI64IntegerAttr(part), builder_.getI64IntegerAttr(object.split),
      number(object.depth), number(object.hold), number(object.address), number(object.number)));
}

// ---- Tiles --------------------------------------------------------------------------------------

/// The lengths of the valid part that are not numbers.
Builder::ValidPart Builder::validPart(const Type &type) {
  ValidPart part;
  mlir::Value *lengths[2] = {&part.rows, &part.cols};
  for (size_t axis = 0; axis < 2; ++axis)
    if (!constantDim(type.extents[axis].length))
      *lengths[axis] = emitDim(type.extents[axis].length);
  return part;
}

static const BlockExpr *asSlot(const Expr *expr) {
  auto *block = expr->kind == ExprKind::Block ? static_cast<const BlockExpr *>(expr) : nullptr;
  return block && block->op == BlockOp::Slot ? block : nullptr;
}

mlir::Value Builder::buildSlot(const BlockExpr &slot, pto::TileBufType type,
                               const ValidPart &valid) {
  mlir::Value slots = buildExpr(*slot.ins[0]).value, number = buildValue(*slot.ins[1]);
  return make<pto::MultiTileGetOp>(slots.getLoc(), type, slots, number, valid.rows, valid.cols);
}

mlir::Value Builder::buildWindow(const BlockExpr &window) {
  Location loc = here(window);
  pto::TileBufType type = tileType(*window.type);
  ValidPart valid = validPart(*window.type);
  mlir::Value row = emitDim(window.offsets[0]), col = emitDim(window.offsets[1]);
  pto::TileBufType baseType = tileType(*window.ins[0]->type);
  bool same = isZero(row) && isZero(col) && baseType.getRows() == type.getRows() &&
              baseType.getCols() == type.getCols();
  if (const BlockExpr *slot = asSlot(window.ins[0]); slot && same)
    return buildSlot(*slot, type, valid);
  mlir::Value base = buildExpr(*window.ins[0]).value;
  if (same && base.getType() == type && !type.hasDynamicValid())
    return base;
  Location place = base.getLoc();
  if (same)
    return make<pto::TReshapeOp>(place, type, base, valid.rows, valid.cols);
  return make<pto::SubsetOp>(isa<NameLoc>(place) ? place : loc, type, base, row, col, valid.rows,
                             valid.cols);
}

// ---- Views of tensors ---------------------------------------------------------------------------

TensorView Builder::wholeTensor(const Expr &expr, bool isOut) {
  auto *ref = expr.kind == ExprKind::LocalRef ? static_cast<const LocalRefExpr *>(&expr) : nullptr;
  if (ref)
    if (auto found = manual_->views.find(ref->local); found != manual_->views.end()) {
      noteUse(*ref->local, isOut);
      return found->second;
    }
  TensorView view;
  if (expr.kind == ExprKind::Block) { // `make_tensor_view(x, offset, shape, strides)`
    const auto &raw = static_cast<const BlockExpr &>(expr);
    view = wholeTensor(*raw.ins[0], isOut);
    mlir::Value offset = buildValue(*raw.ins[1]);
    if (!isZero(offset))
      view.pointer = make<pto::AddPtrOp>(here(expr), view.pointer.getType(), view.pointer, offset);
    view.dims = {emitDim(expr.type->extents[0].length), emitDim(expr.type->extents[1].length)};
    view.strides = {emitDim(expr.type->strides[0]), emitDim(expr.type->strides[1])};
    view.transposed = expr.type->layout == ptl::Layout::Dn;
    return view;
  }
  if (!ref) {
    fail(DiagId::NotOnBlockLevel, expr.span, {"a part of a part of a tensor", binding_.machine});
    return view;
  }
  const Local &local = *ref->local;
  const Type &type = *local.type;
  view.element = scalarType(context_, elemKind(type.elem));
  view.name = builder_.getStringAttr(local.name);
  view.pointer = pointerOf(local, isOut);
  if (type.prefix)
    for (Dim length : frame_->prefix)
      view.dims.push_back(emitRoot(length));
  for (const ptl::Extent &extent : type.extents)
    view.dims.push_back(emitDim(extent.length));
  view.strides.assign(view.dims.size(), mlir::Value());
  mlir::Value stride = index(1);
  for (size_t axis = view.dims.size(); axis-- > 0;) {
    view.strides[axis] = type.strides.empty() ? stride : emitDim(type.strides[axis]);
    stride = builder_.createOrFold<arith::MulIOp>(place_, stride, view.dims[axis]);
  }
  return view;
}

mlir::Value Builder::pointerOf(const Local &local, bool isOut) {
  auto &[read, written] = manual_->uses[&local];
  (isOut ? written : read) = true;
  PointerOp &pointer = manual_->pointers[&local];
  if (!pointer) {
    OpBuilder::InsertionGuard guard(builder_);
    mlir::Block &body = manual_->grid.getBody().front();
    builder_.setInsertionPointToStart(&body);
    for (mlir::Operation &op : body) // behind those of arrays that were used before
      if (isa<PointerOp>(op))
        builder_.setInsertionPointAfter(&op);
      else
        break;
    mlir::Value array = bound(local).value;
    pointer = make<PointerOp>(place_, pto::PtrType::get(&context_, elementTypeOf(array.getType())),
                              array, builder_.getStringAttr("in"));
  }
  return pointer;
}

/// The axes that an index keeps; what it drops goes into `base`, in elements.
llvm::SmallVector<Builder::ViewAxis>
Builder::viewAxes(const TensorView &view, const IndexExpr *indexing, mlir::Value &base) {
  llvm::SmallVector<ViewAxis> axes;
  size_t axis = 0;
  auto addFull = [&] {
    axes.push_back({index(0), view.dims[axis], view.dims[axis], view.strides[axis]});
    ++axis;
  };
  auto skip = [&](mlir::Value position) {
    mlir::Value elements =
        builder_.createOrFold<arith::MulIOp>(place_, position, view.strides[axis]);
    base = base ? builder_.createOrFold<arith::AddIOp>(place_, base, elements) : elements;
  };
  for (const IndexItem &item :
       indexing ? llvm::ArrayRef<IndexItem>(indexing->items) : llvm::ArrayRef<IndexItem>()) {
    switch (item.kind) {
    case IndexItemKind::Position:
      skip(positionOf(*item.value));
      ++axis;
      break;
    case IndexItemKind::Range: {
      mlir::Value start = emitDim(item.range->start),
                  step = item.range->step ? emitDim(item.range->step) : index(1);
      ViewAxis own{start, emitDim(item.range->length), view.dims[axis], view.strides[axis]};
      if (!constantIs(step, 1)) { // every second row is a matrix of its own
        skip(start);
        own = {index(0), own.length, own.length,
               builder_.createOrFold<arith::MulIOp>(place_, view.strides[axis], step)};
      }
      axes.push_back(own);
      ++axis;
      break;
    }
    case IndexItemKind::Rest:
      for (size_t i = item.restCount + (item.restHasPrefix ? frame_->prefix.size() : 0); i > 0; --i)
        addFull();
      break;
    case IndexItemKind::Full:
      addFull();
      break;
    case IndexItemKind::NewAxis:
      axes.push_back({index(0), index(1), index(1), index(0)});
      break;
    case IndexItemKind::Gather:
      fail(DiagId::NotOnBlockLevel, item.span, {"an index array in a view", binding_.machine});
      ++axis;
      break;
    }
  }
  while (axis < view.dims.size())
    addFull();
  return axes;
}

mlir::Value Builder::positionOf(const Expr &expr) {
  mlir::Value position = buildValue(expr);
  if (isa<IndexType>(position.getType()))
    return position;
  return make<arith::IndexCastOp>(here(expr), builder_.getIndexType(), position);
}

/// An operand in global memory: at most rows and columns of an array.
mlir::Value Builder::viewOf(const Expr &expr, bool isOut) {
  Location loc = here(expr);
  if (expr.kind == ExprKind::LocalRef)
    if (const Local &local = *static_cast<const LocalRefExpr &>(expr).local;
        bound(local).value && isa<pto::PartitionViewType>(bound(local).value.getType())) {
      noteUse(local, isOut);
      return bound(local).value;
    }
  auto *indexing = expr.kind == ExprKind::Index ? static_cast<const IndexExpr *>(&expr) : nullptr;
  TensorView view = wholeTensor(indexing ? *indexing->base : expr, isOut);
  if (!view.pointer)
    return {};
  mlir::Value base;
  llvm::SmallVector<ViewAxis> axes = viewAxes(view, indexing, base);
  if (axes.size() == 1) // one axis is one row
    axes.insert(axes.begin(), ViewAxis{index(0), index(1), index(1), axes[0].dim});
  if (axes.size() != 2) {
    fail(DiagId::ViewAxes, expr.span, {"this view", std::to_string(axes.size()) + " axes"});
    return {};
  }
  if (base && !isZero(base))
    view.pointer = make<pto::AddPtrOp>(loc, view.pointer.getType(), view.pointer, base);
  llvm::SmallVector<mlir::Value, 2> shape, strides, offsets, sizes;
  for (const ViewAxis &axis : axes) {
    shape.push_back(axis.dim);
    strides.push_back(axis.stride);
    offsets.push_back(axis.offset);
    sizes.push_back(axis.length);
  }
  pto::ViewLayoutAttr layout;
  if (view.transposed)
    layout = pto::ViewLayoutAttr::get(&context_, pto::ViewLayout::dn);
  llvm::SmallVector<int64_t> viewShape{extentOf(shape[0]), extentOf(shape[1])};
  mlir::Value tensor = make<pto::MakeTensorViewOp>(
      NameLoc::get(view.name, loc), pto::TensorViewType::get(&context_, viewShape, view.element),
      view.pointer, shape, strides, layout);
  llvm::SmallVector<int64_t> boxShape{extentOf(sizes[0]), extentOf(sizes[1])};
  return make<pto::PartitionViewOp>(
      loc, pto::PartitionViewType::get(&context_, boxShape, view.element), tensor, offsets, sizes);
}

Bound Builder::loadElement(const IndexExpr &expr) {
  TensorView view = wholeTensor(*expr.base, false);
  mlir::Value base;
  if (!view.pointer)
    return {};
  viewAxes(view, &expr, base);
  return Bound::of(
      make<pto::LoadScalarOp>(here(expr), view.element, view.pointer, base ? base : index(0)));
}

void Builder::storeElement(const IndexExpr &place, const Expr &value) {
  TensorView view = wholeTensor(*place.base, true);
  mlir::Value base;
  if (!view.pointer)
    return;
  viewAxes(view, &place, base);
  make<pto::StoreScalarOp>(location(place.span), view.pointer, base ? base : index(0),
                           buildValue(value));
}

/// `let v = make_tensor_view(…)`, `let v = x[i, :]`
bool Builder::buildManualLet(const LetStmt &stmt) {
  if (!manual_ || !stmt.value || stmt.locals.size() != 1 || !stmt.locals[0]->type->isArray())
    return false;
  const Local &local = *stmt.locals[0];
  auto *raw =
      stmt.value->kind == ExprKind::Block ? static_cast<const BlockExpr *>(stmt.value) : nullptr;
  const Local *tensor = rootLocal(raw && !raw->ins.empty() ? raw->ins[0] : stmt.value);
  if (auto found = manual_->tensors.find(tensor); found != manual_->tensors.end())
    tensor = found->second;
  manual_->tensors[&local] = tensor;
  auto uses = manual_->uses; // whether it is read or written is seen where it is used
  if (raw) {
    TensorView view = wholeTensor(*stmt.value, false);
    view.name = builder_.getStringAttr(local.name);
    manual_->views[&local] = view;
  } else {
    bound(local) = Bound::of(viewOf(*stmt.value, false));
  }
  manual_->uses = uses;
  return true;
}

void Builder::noteUse(const Local &view, bool isOut) {
  auto &[read, written] = manual_->uses[manual_->tensors[&view]];
  (isOut ? written : read) = true;
}

// ---- Instructions -------------------------------------------------------------------------------

static Attribute attributeOf(OpBuilder &builder, const AttributeInfo &info,
                             const std::string &value) {
  if (info.values == "bool")
    return builder.getBoolAttr(value == "true");
  if (info.values == "int")
    return builder.getI32IntegerAttr(std::atoi(value.c_str()));
  std::string text(info.ir);
  text.replace(text.find('$'), 1, value);
  return parseAttribute(text, builder.getContext());
}

void Builder::buildInstruction(const BlockExpr &call) {
  auto valuesOf = [&](const std::vector<Expr *> &operands, bool areOuts) {
    llvm::SmallVector<mlir::Value> values;
    for (const Expr *operand : operands)
      if (operand)
        values.push_back(operand->type->isArray() ? viewOf(*operand, areOuts)
                                                  : buildValue(*operand));
    return values;
  };
  llvm::SmallVector<mlir::Value> ins = valuesOf(call.ins, false), outs = valuesOf(call.outs, true);
  for (mlir::Value value : llvm::concat<mlir::Value>(ins, outs))
    if (!value)
      return;
  llvm::SmallVector<NamedAttribute> attributes;
  for (const auto &[info, value] : call.attributes)
    attributes.push_back(builder_.getNamedAttr(info->ptoas, attributeOf(builder_, *info, value)));
  pto::emitInstruction(builder_, here(call), call.info->id, ins, outs, attributes);
}

// ---- Events -------------------------------------------------------------------------------------

/// The id of a rotating event: `first + i mod count`; a number where it is one.
mlir::Value Builder::eventId(const BlockExpr &call, int64_t first, int64_t count) {
  Location loc = here(call);
  mlir::Value slot = call.ins.empty() ? index(0) : positionOf(*call.ins[0]);
  IntegerAttr number;
  if (matchPattern(slot, m_Constant(&number)))
    return index(first + ((number.getInt() % count) + count) % count);
  if (count == 1)
    return index(first);
  auto rem = slot.getDefiningOp<arith::RemUIOp>();
  if (!rem || extentOf(rem.getRhs()) != count)
    slot = make<arith::RemUIOp>(loc, slot, index(count));
  return first == 0 ? slot : mlir::Value(make<arith::AddIOp>(loc, slot, index(first)));
}

void Builder::buildSignal(const BlockExpr &call) {
  Location loc = here(call);
  const BlockObject &object = *call.object->object;
  int64_t count = object.count ? constantDim(object.count).value_or(1) : 1;
  mlir::Value id = eventId(call, manual_->ids[call.object], count);
  auto pipe = [&](Pipe kind) { return pto::PipeKindAttr::get(&context_, pto::pipeKind(kind)); };
  bool isSignal = call.op == BlockOp::Signal;
  pto::PipeKindAttr from = pipe(object.from.pipe), to = pipe(object.to.pipe);
  Operation *flag = nullptr;
  if (object.crosses()) {
    flag = isSignal ? make<pto::SyncSetOp>(loc, from, id, mlir::ValueRange()).getOperation()
                    : make<pto::SyncWaitOp>(loc, to, id, mlir::ValueRange()).getOperation();
    flag->setAttr("ptl.ids", builder_.getDenseI64ArrayAttr({manual_->ids[call.object], count}));
  } else if (int64_t number = extentOf(id); number != pto::kDynamic) {
    auto event = pto::EventIdAttr::get(&context_, static_cast<pto::EventId>(number));
    flag = isSignal ? make<pto::SetFlagOp>(loc, from, to, event).getOperation()
                    : make<pto::WaitFlagOp>(loc, from, to, event).getOperation();
  } else {
    flag = isSignal ? make<pto::SetFlagDynOp>(loc, from, to, id).getOperation()
                    : make<pto::WaitFlagDynOp>(loc, from, to, id).getOperation();
    flag->setAttr("ptl.ids", builder_.getDenseI64ArrayAttr({manual_->ids[call.object], count}));
  }
  flag->setAttr("ptl.event", builder_.getStringAttr(call.object->name)); // for messages
  if (binding_.ranges) // who looks at the declaration sees what became of the event
    flag->setLoc(FusedLoc::get(&context_, {loc, location(call.object->span)}));
}

// ---- Dispatch -----------------------------------------------------------------------------------

/// On what makes a value that crosses: what its pipe says of slots.
static void noteCount(const Bound &pushed, llvm::StringRef name, std::optional<int64_t> count) {
  if (Operation *maker = pushed.value ? pushed.value.getDefiningOp() : nullptr; maker && count)
    maker->setAttr(name, IntegerAttr::get(IntegerType::get(maker->getContext(), 64), *count));
}

Bound Builder::buildBlockExpr(const BlockExpr &call) {
  Location loc = here(call);
  if (call.value) { // what one section pushes is what the other pops
    if (call.op == BlockOp::Push) {
      Bound pushed = readRefs(buildExpr(*call.ins[0]), loc);
      const BlockObject &pipe = *call.object->object;
      noteCount(pushed, "ptl.slots", pipe.depth ? constantDim(pipe.depth) : std::nullopt);
      noteCount(pushed, "ptl.held", pipe.hold ? constantDim(pipe.hold) : std::nullopt);
      bindLocal(*call.value, pushed);
    }
    return bound(*call.value);
  }
  auto id = [&](mlir::Value value) {
    return Bound::of(make<arith::IndexCastOp>(loc, builder_.getIndexType(), value));
  };
  mlir::Type i64 = builder_.getI64Type();
  auto split = [&] {
    return builder_.getI8IntegerAttr(static_cast<int8_t>(call.object->object->split));
  };
  switch (call.op) {
  case BlockOp::Instruction:
    buildInstruction(call);
    return {};
  case BlockOp::Slot:
    return Bound::of(buildSlot(call, tileType(*call.type), {}));
  case BlockOp::Window:
    return Bound::of(buildWindow(call));
  case BlockOp::Reshape: {
    ValidPart valid = validPart(*call.type);
    return Bound::of(make<pto::TReshapeOp>(loc, tileType(*call.type), buildValue(*call.ins[0]),
                                           valid.rows, valid.cols));
  }
  case BlockOp::Bitcast:
    return Bound::of(make<pto::BitcastOp>(loc, tileType(*call.type), buildValue(*call.ins[0]),
                                          mlir::Value(), mlir::Value()));
  case BlockOp::View:
  case BlockOp::Initialize:
    return {};
  case BlockOp::Push:
    make<pto::TPushOp>(loc, buildValue(*call.ins[0]), bound(*call.object).value, split());
    return {};
  case BlockOp::Pop: {
    mlir::Value tile = make<pto::DeclareTileOp>(named(context_, call.object->name, loc),
                                                tileType(*call.type), mlir::Value(), mlir::Value());
    make<pto::TPopOp>(loc, tile, bound(*call.object).value, split());
    return Bound::of(tile);
  }
  case BlockOp::Free:
    make<pto::TFreeOp>(loc, bound(*call.object).value, split());
    return {};
  case BlockOp::Signal:
  case BlockOp::Wait:
    buildSignal(call);
    return {};
  case BlockOp::Barrier:
    make<pto::BarrierOp>(loc, pto::PipeKindAttr::get(&context_, pto::pipeKind(call.pipe)));
    return {};
  case BlockOp::BlockIdx:
    return id(make<pto::GetBlockIdxOp>(loc, i64));
  case BlockOp::BlockNum:
    return id(make<pto::GetBlockNumOp>(loc, i64));
  case BlockOp::SubBlockIdx:
    return id(make<pto::GetSubBlockIdxOp>(loc, i64));
  case BlockOp::SubBlockNum:
    return id(make<pto::GetSubBlockNumOp>(loc, i64));
  case BlockOp::GetVal:
    return Bound::of(make<pto::TGetValOp>(loc, scalarType(context_, elemKind(call.type->elem)),
                                          buildValue(*call.ins[0]), positionOf(*call.ins[1])));
  case BlockOp::LoadScalar: {
    TensorView view = wholeTensor(*call.ins[0], false);
    return Bound::of(
        make<pto::LoadScalarOp>(loc, view.element, view.pointer, positionOf(*call.ins[1])));
  }
  case BlockOp::StoreScalar: {
    TensorView view = wholeTensor(*call.outs[0], true);
    make<pto::StoreScalarOp>(loc, view.pointer, positionOf(*call.ins[0]), buildValue(*call.ins[1]));
  }
  }
  return {};
}

} // namespace ptl::ir
