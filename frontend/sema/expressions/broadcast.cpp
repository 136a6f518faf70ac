#include "frontend/sema/expressions/broadcast.h"

#include "frontend/dim/facts_explain.h"
#include "frontend/sema/calls/op_call_reports.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

Shape shapeOf(const Type *type) {
  Shape shape;
  if (type->isArray() || type->kind == TypeKind::List) {
    shape.prefix = type->prefix;
    shape.extents = type->extents;
  }
  return shape;
}

const Type *shapedType(Context &ctx, Elem elem, const Shape &shape) {
  if (shape.isScalar())
    return scalarType(ctx, elem);
  return arrayType(ctx, elem, shape.extents, shape.prefix);
}

std::string toString(Context &ctx, const Shape &shape) {
  std::string text = shape.prefix ? "[.." : "[";
  for (size_t i = 0; i < shape.extents.size(); ++i)
    text += (i || shape.prefix ? ", " : "") + toString(ctx.dims, shape.extents[i]);
  return text + "]";
}

Proof extentsEqual(Context &ctx, const Extent &a, const Extent &b) {
  // An extent without a length had an error, which was reported already.
  if (!a.length || !b.length || a.length == b.length)
    return Proof::True;
  return ctx.facts.proveEqual(a.length, b.length).proof;
}

bool sameShape(Context &ctx, const Shape &a, const Shape &b) {
  if (a.prefix != b.prefix || a.rank() != b.rank())
    return false;
  for (size_t i = 0; i < a.rank(); ++i)
    if (extentsEqual(ctx, a.extents[i], b.extents[i]) != Proof::True)
      return false;
  return true;
}

/// Chooses of two equal extents the one with more information: a range or a capacity.
static Extent richer(const Extent &a, const Extent &b) {
  if (!a.length)
    return b;
  Extent result = a;
  if (!result.range && b.range && !b.length.isConstant())
    result = b;
  if (!result.capacity)
    result.capacity = a.capacity ? a.capacity : b.capacity;
  return result;
}

std::optional<Shape> broadcast(Context &ctx, const Shape &a, const Shape &b,
                               ExtentMismatch *mismatch) {
  if (a.isScalar())
    return b;
  if (b.isScalar())
    return a;
  // Nothing says which of the axes in `..` would meet the other operand's further axes.
  bool prefixMeetsAxes = (a.prefix && b.rank() > a.rank()) || (b.prefix && a.rank() > b.rank());
  if (prefixMeetsAxes) {
    mismatch->rankDiffers = true;
    return std::nullopt;
  }
  Shape result;
  result.prefix = a.prefix || b.prefix;
  size_t rank = std::max(a.rank(), b.rank());
  result.extents.resize(rank);
  for (size_t back = 1; back <= rank; ++back) {
    const Extent *x = back <= a.rank() ? &a.extents[a.rank() - back] : nullptr;
    const Extent *y = back <= b.rank() ? &b.extents[b.rank() - back] : nullptr;
    Extent &out = result.extents[rank - back];
    if (!x || !y)
      out = x ? *x : *y;
    else if (extentsEqual(ctx, *x, *y) == Proof::True)
      out = richer(*x, *y);
    // Only a constant 1 repeats. An extent that happens to be 1 at run time must equal the other
    // one, so that the shape of a result does not depend on data.
    else if (x->length.isConstant(1))
      out = *y;
    else if (y->length.isConstant(1))
      out = *x;
    else {
      *mismatch = {*x, *y, -static_cast<int64_t>(back), false};
      return std::nullopt;
    }
  }
  return result;
}

bool broadcastsTo(Context &ctx, const Shape &from, const Shape &to, ExtentMismatch *mismatch) {
  if (from.isScalar())
    return true;
  if ((from.prefix && (!to.prefix || from.rank() != to.rank())) || from.rank() > to.rank()) {
    mismatch->rankDiffers = true;
    return false;
  }
  for (size_t back = 1; back <= from.rank(); ++back) {
    const Extent &x = from.extents[from.rank() - back];
    const Extent &y = to.extents[to.rank() - back];
    if (x.length.isConstant(1) || extentsEqual(ctx, x, y) == Proof::True)
      continue;
    *mismatch = {x, y, -static_cast<int64_t>(back), false};
    return false;
  }
  return true;
}

/// Whether a length comes from a range. Such lengths are equal by construction, not by an
/// assumption.
static bool namesRange(Context &ctx, Dim dim) {
  bool found = false;
  forEachSymbol(dim, [&](SymbolId symbol) {
    SymbolKind kind = ctx.dims.symbol(symbol).kind;
    found = found || kind == SymbolKind::RangeLen || kind == SymbolKind::RangeStart;
  });
  return found;
}

/// The axes of extent 1 that must be removed from a shape to get the target; empty if that does not
/// give it.
static std::vector<size_t> keptAxes(Context &ctx, const Shape &shape, const Shape &target) {
  std::vector<size_t> kept;
  if (shape.prefix != target.prefix || shape.extents.size() <= target.extents.size())
    return kept;
  size_t at = 0;
  for (size_t i = 0; i < shape.extents.size(); ++i) {
    const Extent &extent = shape.extents[i];
    // An axis of 1 that meets an axis of 1 is matched only if no more axes are left than are
    // wanted; otherwise it counts as a kept one.
    size_t left = shape.extents.size() - i, wanted = target.extents.size() - at;
    bool isOne = extent.length && extent.length.isConstant(1);
    if (at < target.extents.size() && !(isOne && left > wanted) &&
        extentsEqual(ctx, extent, target.extents[at]) == Proof::True)
      ++at;
    else if (isOne)
      kept.push_back(i);
    else
      return {};
  }
  return at == target.extents.size() ? kept : std::vector<size_t>();
}

/// The value of `keep:` in the call of a reduction; none if it has its default.
static NodeId keepArgument(Context &ctx, NodeId node) {
  if (node == kNoNode || !ctx.tree.is(node, NodeKind::CallExpr))
    return kNoNode;
  for (NodeId arg : CallExprView(ctx.tree, node).args()) {
    ArgView view(ctx.tree, arg);
    if (view.name() != kNoNode && ctx.text(view.name()) == "keep")
      return view.value();
  }
  return kNoNode;
}

/// Whether an index only adds axes to an array whose last axis a reduction has kept: elsewhere a
/// reduction drops its axis, and `[:, new]` brings it back.
static bool addsToKeptAxis(Context &ctx, const IndexExpr &index) {
  bool adds = false;
  for (const IndexItem &item : index.items) {
    adds |= item.kind == IndexItemKind::NewAxis;
    if (item.kind != IndexItemKind::NewAxis && item.kind != IndexItemKind::Full)
      return false;
  }
  return adds && !index.outside && endsInKeptAxis(ctx, index.base);
}

/// Offers to drop the first such index among the operands that a value is computed from.
static bool offerWithoutNewAxes(Context &ctx, DiagnosticBuilder report, const Expr *value) {
  if (const auto *index = dyn_cast<IndexExpr>(value); index && addsToKeptAxis(ctx, *index)) {
    Span items{value->span.file, index->base->span.end, value->span.end};
    std::string text(ctx.text(items));
    if (!text.starts_with('['))
      return false;
    report.note("a reduction keeps its axes, with extent 1");
    report.fix(FixId::DropKeptAxis, "drop the new axis: `" + text + "`", {{items, ""}});
    return true;
  }
  if (const auto *convert = dyn_cast<ConvertExpr>(value))
    return offerWithoutNewAxes(ctx, report, convert->arg);
  const auto *op = dyn_cast<OpExpr>(value);
  return op && std::any_of(op->args.begin(), op->args.end(), [&](const Expr *arg) {
           return arg && offerWithoutNewAxes(ctx, report, arg);
         });
}

bool offerWithoutKeptAxes(Context &ctx, DiagnosticBuilder report, const Expr *value,
                          const Type *target) {
  if (!value->type->isArray() || !(target->isArray() || target->isScalar()))
    return false;
  bool isTooLong = value->type->extents.size() > target->extents.size();
  if (isTooLong && offerWithoutNewAxes(ctx, report, value))
    return true;
  Shape shape = shapeOf(value->type);
  std::vector<size_t> kept = keptAxes(ctx, shape, shapeOf(target));
  if (kept.empty()) {
    // `acc += sum(x, axis: 1)`: one side of the operator has the axis.
    bool offered = false;
    if (value->kind == ExprKind::Op && cast<OpExpr>(value)->op->isOperator)
      for (const Expr *arg : cast<OpExpr>(value)->args)
        offered = offered || (arg && offerWithoutKeptAxes(ctx, report, arg, target));
    return offered;
  }
  Span span = value->span;
  bool isReduction =
      value->kind == ExprKind::Op && cast<OpExpr>(value)->op->opClass == OpClass::Reduction;
  if (isReduction && ctx.text(span).ends_with(')')) {
    report.note("a reduction keeps its axes, with extent 1");
    if (NodeId kept = keepArgument(ctx, value->syntax); kept != kNoNode) {
      report.fix(FixId::DropKeptAxis, "drop them: `keep: false`", {{ctx.span(kept), "false"}});
      return true;
    }
    report.fix(FixId::DropKeptAxis, "drop them: `keep: false`",
               {{{span.file, span.end - 1, span.end - 1}, ", keep: false"}});
    return true;
  }
  std::string index = shape.prefix ? "[.., " : "[";
  for (size_t i = 0; i < shape.extents.size(); ++i)
    index += std::string(i ? ", " : "") +
             (std::find(kept.begin(), kept.end(), i) != kept.end() ? "0" : ":");
  index += "]";
  report.fix(FixId::DropKeptAxis, "index the axis of extent 1: `" + index + "`",
             operandBefore(ctx, span, index).edits());
  return true;
}

void explainExtents(Context &ctx, DiagnosticBuilder diagnostic, const Extent &a, const Extent &b) {
  if (!a.length || !b.length)
    return;
  Verdict verdict = ctx.facts.proveEqual(a.length, b.length);
  diagnostic.note(explain(ctx.facts, verdict));
  for (const Extent *extent : {&a, &b})
    if (extent->range && extent->range->span.end > extent->range->span.begin)
      diagnostic.label(extent->range->span, "`" + toString(ctx.dims, *extent) + "` is this range");
  if (verdict.proof != Proof::Unknown || namesRange(ctx, a.length) || namesRange(ctx, b.length))
    return;
  if (toString(ctx.dims, a) == toString(ctx.dims, b)) {
    diagnostic.help("bind it once, with `let`, and use that name in both");
    return;
  }
  MissingFact missing = missingFact(ctx.facts, verdict);
  if (!missing.text.empty())
    diagnostic.help(missing.isWhere
                        ? "if they are always equal, state it in the header: `where " +
                              missing.text + "`"
                        : "if they are always equal, state it before this statement: `assert(" +
                              missing.text + ")`");
}

} // namespace ptl
