#include "frontend/sema/block/check_block_tile.h"

#include "frontend/dim/facts_explain.h"
#include "frontend/sema/block/check_block_level.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

BlockExpr *newBlock(Context &ctx, NodeId node, BlockOp op, const Type *type) {
  auto *expr = newExpr<BlockExpr>(ctx, node, type);
  expr->op = op;
  expr->core = coreHere(ctx);
  return expr;
}

const Type *tileLike(Context &ctx, const Type *like, Extent rows, Extent cols) {
  Type *type = copyType(ctx, *like);
  type->kind = TypeKind::Buffer;
  type->extents = {rows, cols};
  type->strides.clear();
  return type;
}

// ---- Indices ------------------------------------------------------------------------------------

namespace {
struct Slice {
  Dim start, length;
  bool whole = false;
};
} // namespace

/// One index of a tile; nothing after a report.
static std::optional<Slice> sliceOf(Context &ctx, NodeId index, const Extent &extent) {
  auto bound = [&](NodeId node, Dim otherwise) {
    return node == kNoNode ? otherwise
                           : dimOrHoist(ctx, checkIntScalar(ctx, node, "a bound of a slice"));
  };
  if (ctx.tree.is(index, NodeKind::SliceIndex)) {
    SliceIndexView view(ctx.tree, index);
    bool whole = view.start() == kNoNode && view.stop() == kNoNode;
    Dim start = bound(view.start(), ctx.dims.constant(0)), stop = bound(view.stop(), extent.length);
    if (!start || !stop)
      return std::nullopt;
    // A window is rows and columns side by side, so it cannot skip any.
    if (view.step() == kNoNode)
      return Slice{start, ctx.dims.sub(stop, start), whole};
  } else if (!ctx.tree.is(index, NodeKind::NewIndex) && !ctx.tree.is(index, NodeKind::RestIndex)) {
    Expr *value = checkExpr(ctx, index);
    if (isMissing(value))
      return std::nullopt;
    const RangeInfo *range = value->type->kind == TypeKind::Range ? value->type->range : nullptr;
    if (range && range->start && range->length && range->step.isConstant(1))
      return Slice{range->start, range->length};
  }
  ctx.sink.report(DiagId::TileIndex, ctx.span(index), {std::string(ctx.text(index))});
  return std::nullopt;
}

/// The part of an axis that a slice leaves: a slice of static length is a window of that size, a
/// prefix keeps the size of the tile and has fewer that are valid.
static Extent sliced(Context &ctx, const Slice &slice, const Extent &extent) {
  if (slice.whole)
    return extent;
  Extent result = makeExtent(ctx, slice.length);
  if (slice.start.isConstant(0) && !isStaticDim(ctx, slice.length))
    result.capacity = extent.capacity;
  return result;
}

static Expr *checkWindow(Context &ctx, NodeId node, Expr *base, std::span<const NodeId> indices) {
  const Type *type = base->type;
  if (indices.size() != 2) {
    ctx.sink.report(DiagId::TooManyIndices, ctx.span(node),
                    {toString(ctx, type), "2", std::to_string(indices.size())});
    return errorExpr(ctx, node);
  }
  BlockExpr *window = newBlock(ctx, node, BlockOp::Window, type);
  window->ins = {base};
  Extent extents[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const Extent &extent = type->extents[axis];
    auto slice = sliceOf(ctx, indices[axis], extent);
    if (!slice)
      return errorExpr(ctx, node);
    Verdict inside =
        // A window may reach into the padding of a tile, which lies in the buffer as well; outside
        // of the capacity is other memory.
        ctx.facts.proveLessEqual(ctx.dims.add(slice->start, slice->length), extent.capacity);
    if (inside.isFalse()) {
      ctx.sink
          .report(DiagId::OutOfBounds, ctx.span(indices[axis]),
                  {std::string(ctx.text(indices[axis])), std::to_string(axis), toString(ctx, type),
                   ctx.dims.toString(extent.capacity)})
          .note(explain(ctx.facts, inside));
      return errorExpr(ctx, node);
    }
    extents[axis] = sliced(ctx, *slice, extent);
    window->offsets.push_back(slice->start);
  }
  window->type = tileLike(ctx, type, extents[0], extents[1]);
  if (!requireCapacity(ctx, window->type, window->span, "this part of a tile"))
    window->type = errorType(ctx);
  return window;
}

Expr *checkTileIndex(Context &ctx, NodeId node, Expr *base, std::span<const NodeId> indices) {
  const Local *local = base->kind == ExprKind::LocalRef ? cast<LocalRefExpr>(base)->local : nullptr;
  // What has several slots is indexed by their number, a tile by rows and columns.
  bool rotates = local && local->object && local->object->count;
  if (!rotates && isTile(base->type))
    return checkWindow(ctx, node, base, indices);
  if (!rotates || indices.size() != 1) {
    ctx.sink.report(DiagId::NotIndexable, ctx.span(node), {toString(ctx, base->type)});
    return errorExpr(ctx, node);
  }
  BlockExpr *slot = newBlock(ctx, node, BlockOp::Slot, base->type);
  slot->object = const_cast<Local *>(local);
  slot->ins = {base, checkIntScalar(ctx, indices[0], "the number of a buffer or event")};
  if (isMissing(slot->ins[1]))
    slot->type = errorType(ctx);
  return slot;
}

// ---- The same bytes seen differently ------------------------------------------------------------

/// `layout: .dn` among arguments.
static Layout layoutArgument(Context &ctx, const std::vector<CallArgument> &args) {
  for (const CallArgument &arg : args) {
    if (arg.name.empty() || arg.name == "valid")
      continue;
    bool isTag = arg.name == "layout" && ctx.tree.is(arg.value, NodeKind::DotName);
    Layout layout =
        isTag ? layoutByName(ctx.text(DotNameView(ctx.tree, arg.value).name())) : Layout::Inferred;
    if (layout != Layout::Inferred)
      return layout;
    ctx.sink.report(
        DiagId::UnknownEnumValue, arg.span,
        {std::string(ctx.text(arg.value)), "layout", "`.nd` `.dn` `.nz` `.zn` `.zz` `.nn`"});
  }
  return Layout::Inferred;
}

static Expr *tileArgument(Context &ctx, const CallArgument &arg, std::string_view name) {
  Expr *tile = checkBase(ctx, arg.value);
  if (!isMissing(tile) && !isTile(tile->type)) {
    ctx.sink.report(DiagId::WrongOperand, tile->span,
                    {std::string(name), "1", "`" + toString(ctx, tile->type) + "`", "a tile"});
    return errorExpr(ctx, arg.value);
  }
  return tile;
}

static std::optional<int64_t> bitsOf(const Type *type) {
  auto rows = type->extents[0].capacity.constant(), cols = type->extents[1].capacity.constant();
  if (!rows || !cols || type->elem.param)
    return std::nullopt;
  return *rows * *cols * static_cast<int64_t>(elemBits(type->elem.kind));
}

static void checkSize(Context &ctx, const Type *source, const Type *result, Span span) {
  auto before = bitsOf(source), after = bitsOf(result);
  if (before && after && *after > *before)
    ctx.sink.report(DiagId::ReshapeTooLarge, span,
                    {toString(ctx, result), std::to_string(*after / 8), toString(ctx, source),
                     std::to_string(*before / 8)});
}

/// The type that `treshape` and `bitcast` name, in the place of the source.
static const Type *seenAs(Context &ctx, const Type *source, const Type *written, Span span) {
  if (written->isError())
    return written;
  bool fits = written->isArray() && !written->prefix && !written->extents.empty() &&
              written->extents.size() <= 2;
  for (const Extent &extent : written->extents)
    fits = fits && isStaticDim(ctx, extent.length);
  if (!fits) {
    ctx.sink.report(DiagId::NotATileType, span, {"a tile", toString(ctx, written)});
    return errorType(ctx);
  }
  Type *type = copyType(ctx, *source);
  type->elem = written->elem;
  bool isRow = written->extents.size() == 1;
  type->extents = {isRow ? makeExtent(ctx, ctx.dims.constant(1)) : written->extents[0],
                   written->extents.back()};
  return type;
}

/// `[rows, cols]` as dimensions; empty after a report.
static std::vector<Dim> dimPair(Context &ctx, const CallArgument &arg, std::string_view name,
                                std::string_view number) {
  std::vector<Dim> dims;
  NodeId list = skipParens(ctx, arg.value);
  bool known = true;
  if (ctx.tree.is(list, NodeKind::ListExpr))
    for (NodeId element : ListExprView(ctx.tree, list).elements()) {
      dims.push_back(dimOrHoist(ctx, checkIntScalar(ctx, element, "an extent or a stride")));
      known = known && dims.back();
    }
  bool ok = dims.size() == 2 && known;
  if (!ok && known)
    ctx.sink.report(DiagId::WrongOperand, arg.span,
                    {std::string(name), std::string(number),
                     "`" + std::string(ctx.text(arg.span)) + "`", "a list of two"});
  return ok ? dims : std::vector<Dim>();
}

/// `valid: [rows, cols]`: how much of a tile is valid, where slices cannot say it: a slice of
/// constant length is a window.
static void applyValid(Context &ctx, const std::vector<CallArgument> &args, Type &type) {
  for (const CallArgument &arg : args) {
    if (arg.name != "valid")
      continue;
    std::vector<Dim> lengths = dimPair(ctx, arg, "treshape", "valid");
    for (size_t axis = 0; axis < lengths.size(); ++axis) {
      Extent &extent = type.extents[axis];
      Dim capacity = extent.capacity;
      Verdict inside = ctx.facts.proveLessEqual(lengths[axis], capacity);
      if (inside.isFalse())
        ctx.sink
            .report(DiagId::OutOfBounds, arg.span,
                    {ctx.dims.toString(lengths[axis]), std::to_string(axis), toString(ctx, &type),
                     ctx.dims.toString(capacity)})
            .note(explain(ctx.facts, inside));
      extent = makeExtent(ctx, lengths[axis]);
      extent.capacity = capacity;
    }
  }
}

Expr *checkReshape(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  BlockExpr *expr = newBlock(ctx, node, BlockOp::Reshape, errorType(ctx));
  Expr *tile = tileArgument(ctx, args[0], "treshape");
  const Type *written = resolveType(ctx, args[1].value);
  Layout layout = layoutArgument(ctx, args);
  if (isMissing(tile))
    return expr;
  expr->ins = {tile};
  const Type *type = seenAs(ctx, tile->type, written, args[1].span);
  if (type->isError())
    return expr;
  if (!(type->elem == tile->type->elem)) {
    ctx.sink
        .report(DiagId::WrongOperand, args[1].span,
                {"treshape", "2", "`" + toString(type->elem) + "`",
                 "`" + toString(tile->type->elem) + "`"})
        .help("`bitcast(t, T)` changes the element type");
    return expr;
  }
  Type *result = copyType(ctx, *type);
  if (layout != Layout::Inferred)
    result->layout = layout;
  checkSize(ctx, tile->type, result, args[1].span);
  applyValid(ctx, args, *result);
  expr->type = result;
  return expr;
}

Expr *checkBitcast(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  BlockExpr *expr = newBlock(ctx, node, BlockOp::Bitcast, errorType(ctx));
  Expr *tile = tileArgument(ctx, args[0], "bitcast");
  if (isMissing(tile))
    return expr;
  expr->ins = {tile};
  const Type *written = nullptr;
  if (auto elem = findElem(ctx, args[1].value)) {
    // Without a shape all of the buffer is seen, not only what is valid.
    Type *same = copyType(ctx, *tile->type);
    same->kind = TypeKind::Array;
    same->elem = *elem;
    for (Extent &extent : same->extents)
      extent = makeExtent(ctx, extent.capacity);
    written = same;
  } else {
    written = resolveType(ctx, args[1].value);
  }
  expr->type = seenAs(ctx, tile->type, written, args[1].span);
  if (!expr->type->isError())
    checkSize(ctx, tile->type, expr->type, args[1].span);
  return expr;
}

// ---- Views of tensors ---------------------------------------------------------------------------

bool isTensor(const Expr *expr) {
  const Local *local = rootLocal(expr);
  return expr->type->isArray() && local &&
         (local->kind == LocalKind::Param || local->kind == LocalKind::Output);
}

Expr *checkTensorView(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  BlockExpr *view = newBlock(ctx, node, BlockOp::View, errorType(ctx));
  Expr *tensor = checkBase(ctx, args[0].value);
  Expr *offset = checkIntScalar(ctx, args[1].value, "an offset");
  std::vector<Dim> shape = dimPair(ctx, args[2], "make_tensor_view", "3"),
                   strides = dimPair(ctx, args[3], "make_tensor_view", "4");
  Layout layout = layoutArgument(ctx, args);
  if (isMissing(tensor) || isMissing(offset) || shape.empty() || strides.empty())
    return view;
  if (!isTensor(tensor)) {
    ctx.sink.report(DiagId::WrongOperand, tensor->span,
                    {"make_tensor_view", "1", "`" + toString(ctx, tensor->type) + "`", "a tensor"});
    return view;
  }
  view->ins = {tensor, offset};
  Type *type = copyType(ctx, *tensor->type);
  type->prefix = false;
  type->place = Place::Gm;
  type->layout = layout;
  type->extents = {makeExtent(ctx, shape[0]), makeExtent(ctx, shape[1])};
  type->strides = strides;
  view->type = type;
  return view;
}

std::optional<Matrix> matrixOf(Context &ctx, const Expr *operand) {
  const Type *type = operand->type;
  const std::vector<Extent> &extents = type->extents;
  if (extents.size() == 2 && !type->prefix)
    return Matrix{extents[0], extents[1]};
  if (extents.size() == 1 && !type->prefix)
    return Matrix{makeExtent(ctx, ctx.dims.constant(1)), extents[0]};
  ctx.sink.report(DiagId::ViewAxes, operand->span,
                  {std::string(ctx.text(operand->span)), toString(ctx, type)});
  return std::nullopt;
}

} // namespace ptl
