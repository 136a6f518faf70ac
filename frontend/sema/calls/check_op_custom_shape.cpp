#include "frontend/sema/calls/check_op_custom_shape.h"

#include "frontend/dim/facts_explain.h"
#include "frontend/sema/calls/match_signature.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"

#include <algorithm>

namespace ptl {

static Dim countOf(Context &ctx, const Shape &shape) {
  Dim count = ctx.dims.constant(1);
  for (const Extent &extent : shape.extents)
    count = ctx.dims.mul(count, extent.length);
  return count;
}

Elem elemOfResult(const OpCall &call, const OpMatch &match, size_t result) {
  return resultElem(call, match, match.signature->results[result].elem);
}

Shape operandShape(const OpMatch &match, size_t index) {
  return index < match.values.size() && match.values[index] ? shapeOf(match.values[index]->type)
                                                            : Shape();
}

static const Type *checkReshape(Context &ctx, const OpCall &call, const OpMatch &match,
                                OpExpr *expr) {
  Shape from = operandShape(match, 0);
  const Shape &to = *call.shape("dims");
  const Type *type = match.values[0]->type;
  if (from.prefix != to.prefix) {
    ctx.sink.report(DiagId::ReshapePrefix, call.span, {toString(ctx, type), toString(ctx, to)});
    return errorType(ctx);
  }
  Dim have = countOf(ctx, from), want = countOf(ctx, to);
  Verdict verdict = ctx.facts.proveEqual(have, want);
  if (verdict.isTrue())
    return shapedType(ctx, elemOfResult(call, match), to);
  auto report = ctx.sink.report(
      DiagId::ReshapeCount, call.span,
      {toString(ctx, type), toString(ctx, to), ctx.dims.toString(have), ctx.dims.toString(want)});
  explainExtents(ctx, report, Extent{have, {}, nullptr}, Extent{want, {}, nullptr});
  return errorType(ctx);
}

static const Type *checkTranspose(Context &ctx, const OpCall &call, const OpMatch &match,
                                  OpExpr *expr) {
  Shape shape = operandShape(match, 0);
  std::string type = toString(ctx, match.values[0]->type);
  if (!call.axes) {
    if (shape.rank() < 2) {
      ctx.sink.report(DiagId::RankTooSmall, call.span, {"transpose", "2", type});
      return errorType(ctx);
    }
    // Without axes the last two are exchanged.
    std::swap(shape.extents[shape.rank() - 1], shape.extents[shape.rank() - 2]);
    return shapedType(ctx, elemOfResult(call, match), shape);
  }
  auto axes = normalizeAxes(ctx, call, shape);
  if (!axes)
    return errorType(ctx);
  if (axes->size() != shape.rank()) {
    ctx.sink.report(DiagId::TransposeAxes, call.spanOf("axes"),
                    {std::to_string(axes->size()), type});
    return errorType(ctx);
  }
  Shape result{shape.prefix, {}};
  for (int64_t axis : *axes)
    result.extents.push_back(shape.extents[shape.rank() + static_cast<size_t>(axis)]);
  expr->axes = *axes;
  return shapedType(ctx, elemOfResult(call, match), result);
}

static const Type *checkConcat(Context &ctx, const OpCall &call, const OpMatch &match,
                               OpExpr *expr) {
  Shape result = operandShape(match, 0);
  auto axes = normalizeAxes(ctx, call, result);
  if (!axes)
    return errorType(ctx);
  size_t axis = result.rank() + static_cast<size_t>(axes->front());
  for (size_t i = 1; i < match.values.size(); ++i) {
    Shape next = operandShape(match, i);
    if (next.rank() != result.rank() || next.prefix != result.prefix) {
      ctx.sink
          .report(DiagId::RanksDiffer, call.values[i].span,
                  {"concat", toString(ctx, match.values[0]->type),
                   toString(ctx, match.values[i]->type)})
          .label(call.values[0].span, toString(ctx, match.values[0]->type));
      return errorType(ctx);
    }
    for (size_t a = 0; a < result.rank(); ++a) {
      if (a == axis || extentsEqual(ctx, result.extents[a], next.extents[a]) == Proof::True)
        continue;
      auto report = ctx.sink.report(
          DiagId::ShapesDoNotMatch, call.values[i].span,
          {"concat", toString(ctx.dims, result.extents[a]), toString(ctx.dims, next.extents[a])});
      report.label(call.values[0].span, toString(ctx, match.values[0]->type));
      explainExtents(ctx, report, result.extents[a], next.extents[a]);
      return errorType(ctx);
    }
    Extent sum =
        makeExtent(ctx, ctx.dims.add(result.extents[axis].length, next.extents[axis].length));
    // The length may be known only at run time; the capacity is known if both capacities are.
    if (!sum.capacity && result.extents[axis].capacity && next.extents[axis].capacity)
      sum.capacity = ctx.dims.add(result.extents[axis].capacity, next.extents[axis].capacity);
    result.extents[axis] = sum;
  }
  expr->axes = *axes;
  return shapedType(ctx, elemOfResult(call, match), result);
}

static const Type *checkPad(Context &ctx, const OpCall &call, const OpMatch &match, OpExpr *expr) {
  Shape shape = operandShape(match, 0);
  Dim zero = ctx.dims.constant(0);
  std::vector<Dim> both[2];
  size_t which = 0;
  for (std::string_view name : {"before", "after"}) {
    const Shape *list = call.shape(name);
    std::vector<Dim> &amounts = both[which++];
    amounts.assign(shape.rank(), zero);
    if (!list)
      continue;
    if (list->rank() != shape.rank()) {
      ctx.sink.report(
          DiagId::PadAxes, call.spanOf(name),
          {std::string(name), std::to_string(list->rank()), toString(ctx, match.values[0]->type)});
      return errorType(ctx);
    }
    for (size_t i = 0; i < list->rank(); ++i) {
      amounts[i] = list->extents[i].length;
      if (ctx.facts.proveLess(amounts[i], zero).isTrue()) {
        ctx.sink.report(DiagId::NegativeDimension, call.spanOf(name),
                        {std::string(name), ctx.dims.toString(amounts[i])});
        return errorType(ctx);
      }
    }
  }
  for (size_t i = 0; i < shape.rank(); ++i) {
    Extent &extent = shape.extents[i];
    // A capacity grows by a static amount, so that a padded tile still has a bound.
    Dim added = ctx.dims.add(both[0][i], both[1][i]);
    if (added == zero)
      continue;
    Dim capacity =
        extent.capacity && isStaticDim(ctx, added) ? ctx.dims.add(extent.capacity, added) : Dim();
    extent = makeExtent(ctx, ctx.dims.add(extent.length, added));
    if (!extent.capacity)
      extent.capacity = capacity;
  }
  expr->shape = both[0];
  expr->shape.insert(expr->shape.end(), both[1].begin(), both[1].end());
  expr->shapeHasPrefix = shape.prefix;
  return shapedType(ctx, elemOfResult(call, match), shape);
}

static const Type *checkBroadcast(Context &ctx, const OpCall &call, const OpMatch &match,
                                  OpExpr *expr) {
  Shape from = operandShape(match, 0);
  const Shape &to = *call.shape("dims");
  ExtentMismatch mismatch;
  if (broadcastsTo(ctx, from, to, &mismatch))
    return shapedType(ctx, elemOfResult(call, match), to);
  std::string type = toString(ctx, match.values[0]->type);
  if (mismatch.rankDiffers) {
    ctx.sink.report(DiagId::RanksDiffer, call.span, {"broadcast", type, toString(ctx, to)});
    return errorType(ctx);
  }
  auto report = ctx.sink.report(
      DiagId::ShapesDoNotMatch, call.span,
      {"broadcast", toString(ctx.dims, mismatch.a), toString(ctx.dims, mismatch.b)});
  explainExtents(ctx, report, mismatch.a, mismatch.b);
  return errorType(ctx);
}

static const Type *checkInterleave(Context &ctx, const OpCall &call, const OpMatch &match,
                                   OpExpr *expr) {
  Shape shape = operandShape(match, 0);
  Extent &last = shape.extents.back();
  Dim capacity = last.capacity ? ctx.dims.scale(last.capacity, 2) : Dim();
  last = makeExtent(ctx, ctx.dims.scale(last.length, 2));
  if (!last.capacity)
    last.capacity = capacity;
  return shapedType(ctx, elemOfResult(call, match), shape);
}

static const Type *checkDeinterleave(Context &ctx, const OpCall &call, const OpMatch &match,
                                     OpExpr *expr) {
  Shape shape = operandShape(match, 0);
  Extent &last = shape.extents.back();
  Dim two = ctx.dims.constant(2);
  Verdict even = ctx.facts.proveDivides(two, last.length);
  if (!even.isTrue()) {
    auto report =
        ctx.sink.report(DiagId::LengthNotEven, call.span, {ctx.dims.toString(last.length)});
    report.note(explain(ctx.facts, even));
    if (!even.isFalse())
      report.help("if it is even, state this: `assert(" + ctx.dims.toString(last.length) +
                  " % 2 == 0)`, or a `where`");
    return errorType(ctx);
  }
  // The capacity may be odd, although the length is not.
  Dim capacity = last.capacity ? ctx.dims.ceilDiv(last.capacity, two) : Dim();
  last = makeExtent(ctx, ctx.dims.floorDiv(last.length, two));
  if (!last.capacity)
    last.capacity = capacity;
  const Type *half = shapedType(ctx, elemOfResult(call, match), shape);
  return tupleType(ctx, {half, half});
}

CustomCheck customShapeCheck(std::string_view name) {
  static constexpr std::pair<std::string_view, CustomCheck> checks[] = {
      {"reshape", checkReshape},
      {"transpose", checkTranspose},
      {"concat", checkConcat},
      {"pad", checkPad},
      {"broadcast", checkBroadcast},
      {"interleave", checkInterleave},
      {"deinterleave", checkDeinterleave},
  };
  for (const auto &[each, check] : checks)
    if (each == name)
      return check;
  return nullptr;
}

} // namespace ptl
