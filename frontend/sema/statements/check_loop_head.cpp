#include "frontend/sema/statements/check_loop_head.h"

#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/statements/check_loop.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

static bool isCallOf(Context &ctx, NodeId node, std::string_view name) {
  if (!ctx.tree.is(node, NodeKind::CallExpr))
    return false;
  NodeId callee = CallExprView(ctx.tree, node).callee();
  return ctx.tree.is(callee, NodeKind::NameExpr) && ctx.text(callee) == name;
}

static bool isTilesCall(Context &ctx, NodeId node) { return isCallOf(ctx, node, "tiles"); }

/// `parts(…)`, unless the file has a function of that name.
bool isPartsCall(Context &ctx, NodeId node) {
  return isCallOf(ctx, node, "parts") && !lookupCallable(ctx, "parts");
}

/// A range behind a name, as what `tiles` or `parts` cuts.
static void cutRange(Context &ctx, NodeId node, const RangeInfo &range, TilesExpr *tiles) {
  if (!range.step.isConstant(1))
    ctx.sink.report(DiagId::TilesOfSteps, ctx.span(node), {});
  tiles->lo = dimValue(ctx, range.start, node);
  tiles->hi = dimValue(ctx, ctx.dims.add(range.start, range.length), node);
}

/// `0..n`, `r` or `N` as what `tiles` cuts.
static void checkTiled(Context &ctx, NodeId node, TilesExpr *tiles) {
  NodeId inner = skipParens(ctx, node);
  // A range that is written out gives its bounds as expressions; one behind a name only gives
  // dimensions.
  if (ctx.tree.is(inner, NodeKind::RangeExpr)) {
    Expr *range = checkRange(ctx, inner);
    if (range->type->isError())
      return;
    auto *bounds = cast<RangeExpr>(range);
    // Tiles are contiguous, so a range with steps cannot be cut into them.
    if (bounds->step && !bounds->step->dim.isConstant(1))
      ctx.sink.report(DiagId::TilesOfSteps, ctx.span(inner), {});
    tiles->lo = bounds->lo;
    tiles->hi = bounds->hi;
    return;
  }
  Operand operand = checkOperand(ctx, inner);
  if (operand.expr && operand.expr->type->kind == TypeKind::Range) {
    cutRange(ctx, inner, *operand.expr->type->range, tiles);
    return;
  }
  // `tiles(N, T)` counts from 0.
  tiles->lo = dimValue(ctx, ctx.dims.constant(0), inner);
  // The operand is not checked again, which would report its errors twice.
  tiles->hi = asIntScalar(ctx, inner, operand, "what `tiles` cuts");
}

static LoopDomain checkTiles(Context &ctx, NodeId node) {
  LoopDomain domain;
  domain.isTiles = true;
  CallExprView view(ctx.tree, node);
  auto *tiles = newExpr<TilesExpr>(ctx, node, errorType(ctx));
  domain.iterable = tiles;
  std::vector<CallArgument> args = callArguments(ctx, node);
  if (args.size() != 2 || !args[0].name.empty() || !args[1].name.empty()) {
    ctx.sink
        .report(DiagId::WrongArgumentCount, ctx.span(node),
                {"tiles", "2 arguments", std::to_string(args.size())})
        .note("`tiles(N, T)`, `tiles(lo..hi, T)` or `tiles(r, T)`");
    return domain;
  }
  checkTiled(ctx, args[0].value, tiles);
  tiles->size = checkIntScalar(ctx, args[1].value, "a tile size");
  if (isMissing(tiles->lo) || isMissing(tiles->hi) || isMissing(tiles->size))
    return domain;
  Dim one = ctx.dims.constant(1);
  domain.lo = tiles->lo->dim;
  domain.hi = tiles->hi->dim;
  domain.size = tiles->size->dim;
  // Only a size that is definitely not positive is an error here; another one is checked when it runs.
  if (domain.size && ctx.facts.proveLess(domain.size, one).isTrue()) {
    ctx.sink.report(DiagId::RangeStepNotPositive, tiles->size->span,
                    {ctx.dims.toString(domain.size)});
    return domain;
  }
  // The size occurs in the type of the variable, so it must be a dimension.
  if (!domain.size)
    domain.size = dimOrHoist(ctx, tiles->size);
  domain.element = intType(ctx); // replaced by the range
  return domain;
}

static LoopDomain refuseParts(Context &ctx, Span span, std::string why) {
  ctx.sink.report(DiagId::PartsNotHere, span, {std::move(why)})
      .help("it is written `parallel c in parts(N, over: chip) { … }`");
  return {};
}

PartsCall readPartsCall(Context &ctx, NodeId node) {
  PartsCall call{node};
  NodeId over = kNoNode;
  for (const CallArgument &arg : callArguments(ctx, node)) {
    NodeId *slot = arg.name.empty() ? &call.what : arg.name == "over" ? &over : nullptr;
    if (!slot || *slot != kNoNode || arg.isInout) {
      refuseParts(ctx, arg.span,
                  "`" + std::string(ctx.text(arg.node)) + "` is not one of its arguments");
      return call;
    }
    *slot = arg.value;
  }
  std::vector<NodeId> levels;
  if (over != kNoNode && ctx.tree.is(over, NodeKind::ListExpr)) {
    auto listed = ctx.tree.children(over);
    levels.assign(listed.begin(), listed.end());
  } else if (over != kNoNode) {
    levels = {over};
  }
  bool areNames = !levels.empty() && std::ranges::all_of(levels, [&](NodeId level) {
    return ctx.tree.is(level, NodeKind::NameExpr);
  });
  if (call.what == kNoNode || !areNames) {
    refuseParts(ctx, ctx.span(node),
                call.what == kNoNode ? "it needs the dimension that is cut"
                                     : "it needs the levels whose parts have the blocks, `over:`");
    return call;
  }
  call.levels = std::move(levels);
  return call;
}

/// What the outermost level cuts: `N`, or the range of a `parallel` over parts around this one.
static bool checkWhatPartsCut(Context &ctx, NodeId node, TilesExpr *parts) {
  Operand operand = checkOperand(ctx, skipParens(ctx, node));
  if (operand.expr && operand.expr->type->kind == TypeKind::Range) {
    cutRange(ctx, node, *operand.expr->type->range, parts);
    return true;
  }
  parts->lo = dimValue(ctx, ctx.dims.constant(0), node);
  parts->hi = asIntScalar(ctx, node, operand, "what `parts` cuts");
  return !isMissing(parts->hi);
}

LoopDomain checkParts(Context &ctx, const PartsCall &call, NodeId level, const RangeInfo *within) {
  LoopDomain domain;
  domain.isTiles = true;
  auto *parts = newExpr<TilesExpr>(ctx, call.node, errorType(ctx));
  checkLevelName(ctx, level);
  parts->level = ctx.text(level);
  if (within) {
    parts->lo = dimValue(ctx, within->start, call.what);
    parts->hi = dimValue(ctx, ctx.dims.add(within->start, within->length), call.what);
  } else if (!checkWhatPartsCut(ctx, call.what, parts)) {
    return domain;
  }
  if (!parts->hi->dim || !parts->lo->dim)
    return refuseParts(ctx, ctx.span(call.what), "data decide how long it is");
  auto count = ctx.partCounts.find(parts->level);
  if (count == ctx.partCounts.end() || !count->second)
    return refuseParts(ctx, ctx.span(level),
                       ctx.decl ? "the header of `" + ctx.decl->name + "` places no array over `" +
                                      parts->level + "`"
                                : "there are no levels");
  // Of nothing, each part has an empty block; tiles have a size.
  domain.lo = parts->lo->dim;
  domain.hi = parts->hi->dim;
  Dim one = ctx.dims.constant(1),
      cut = ctx.dims.ceilDiv(ctx.dims.sub(domain.hi, domain.lo), count->second);
  domain.size = cut ? ctx.dims.max(std::vector<Dim>{cut, one}) : Dim();
  if (!domain.size) {
    ctx.sink.report(DiagId::DimensionTooLarge, ctx.span(call.node));
    return domain;
  }
  parts->size = dimValue(ctx, domain.size, call.node);
  domain.iterable = parts;
  domain.element = intType(ctx); // replaced by the range
  return domain;
}

LoopDomain checkDomain(Context &ctx, NodeId node) {
  node = skipParens(ctx, node);
  if (isPartsCall(ctx, node)) {
    ctx.sink
        .report(DiagId::PartsNotHere, ctx.span(node),
                {"it is the only range of a `parallel` of a program on parts"})
        .help("its blocks are on different parts, so it is written `parallel c in parts(N, over: "
              "chip) { … }`");
    LoopDomain domain;
    domain.iterable = errorExpr(ctx, node);
    return domain;
  }
  if (isTilesCall(ctx, node))
    return checkTiles(ctx, node);
  LoopDomain domain;
  domain.iterable = checkExpr(ctx, node);
  const Type *type = domain.iterable->type;
  domain.step = ctx.dims.constant(1);
  if (type->kind == TypeKind::Range) {
    domain.element = intType(ctx);
    domain.lo = type->range->start;
    domain.step = type->range->step;
    // From a range behind a name only start and length are known, so the end is computed. It may
    // lie beyond the end as written by less than a step.
    domain.hi = ctx.dims.add(domain.lo, ctx.dims.mul(type->range->step, type->range->length));
    if (auto *range = dyn_cast<RangeExpr>(domain.iterable)) {
      // The end as written is the more precise bound for the facts.
      domain.hi = range->hi->dim;
      if (range->step && range->step->dim &&
          ctx.facts.proveLess(range->step->dim, ctx.dims.constant(1)).isTrue()) {
        ctx.sink.report(DiagId::RangeStepNotPositive, range->step->span,
                        {ctx.dims.toString(range->step->dim)});
        domain.element = nullptr;
      }
    }
  } else if (type->kind == TypeKind::List) {
    domain.element = type->elements.front();
  } else if (!type->isError()) {
    auto report = ctx.sink.report(DiagId::NotALoopDomain, ctx.span(node), {toString(ctx, type)});
    // The likely mistake is `for i in n`.
    Span span = ctx.span(node);
    if (type->isInt())
      report.fix(FixId::LoopFromZero, "count from 0: `0..…`",
                 operandBehind(ctx, "0..", span, Precedence::Or).edits());
  }
  return domain;
}

/// A bound as a dimension for the facts; one that is none gets a symbol that only facts speak of.
static Dim boundOf(Context &ctx, Dim dim) {
  return dim ? dim : ctx.dims.symbolDim(ctx.dims.addSymbol("the end", SymbolKind::ScalarValue));
}

/// The variable of `tiles`: a range of its own, with what one iteration knows.
static Local *declareRange(Context &ctx, LoopHead &head, const LoopDomain &domain, NodeId name,
                           bool isNamed = true) {
  std::string text(ctx.text(name));
  Span span = ctx.span(name);
  RangeInfo *range = ctx.program.make<RangeInfo>();
  TilesRange facts;
  // Each iteration has another start and length, so they are symbols of their own; the facts below
  // relate them to the domain.
  facts.start = ctx.dims.addSymbol(text + ".start", SymbolKind::RangeStart, span);
  facts.len = ctx.dims.addSymbol(text + ".len", SymbolKind::RangeLen, span);
  facts.count = ctx.dims.addSymbol(text + ".count", SymbolKind::RangeCount, span);
  facts.lo = boundOf(ctx, domain.lo);
  facts.hi = boundOf(ctx, domain.hi);
  facts.size = boundOf(ctx, domain.size);
  facts.span = span;
  range->name = text;
  range->span = span;
  range->start = ctx.dims.symbolDim(facts.start);
  range->length = ctx.dims.symbolDim(facts.len);
  range->count = ctx.dims.symbolDim(facts.count);
  range->step = ctx.dims.constant(1);
  range->size = domain.size;
  // Tiles that overlap the end are shorter, but none is longer than the size, which bounds their
  // buffers.
  range->capacity = domain.size ? capacityOf(ctx, domain.size) : Dim();
  ctx.facts.addTilesRange(facts);
  head.range = range;
  return declareLocal(ctx, LocalKind::Loop, isNamed ? text : "", span, rangeType(ctx, range),
                      isNamed ? name : kNoNode);
}

LoopHead bindOuterParts(Context &ctx, const LoopDomain &domain, NodeId level) {
  LoopHead head;
  head.iterable = domain.iterable;
  head.var = declareRange(ctx, head, domain, level, /*isNamed=*/false);
  return head;
}

/// The variable of a list of constants lies between the least and the largest of them.
static void addListBounds(Context &ctx, const Expr *iterable, SymbolId symbol) {
  std::optional<int64_t> low, high;
  for (const Expr *element : cast<ListExpr>(iterable)->elements) {
    // One element that is no constant leaves nothing to say about the least and the largest.
    auto value = element->dim.constant();
    if (!value)
      return;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  if (!low)
    return;
  ctx.facts.addLessEqual(ctx.dims.constant(*low), ctx.dims.symbolDim(symbol), iterable->span);
  ctx.facts.addLessEqual(ctx.dims.symbolDim(symbol), ctx.dims.constant(*high), iterable->span);
}

LoopHead bindLoop(Context &ctx, const LoopDomain &domain, NodeId pattern) {
  LoopHead head;
  head.iterable = domain.iterable;
  Span span = ctx.span(pattern);
  std::string_view name = ctx.text(pattern);
  if (ctx.tree.is(pattern, NodeKind::TuplePattern)) {
    ctx.sink.report(DiagId::NestedPattern, span, {});
    // The names are still declared, in error, so that uses of them are not reported as unknown.
    for (NodeId element : TuplePatternView(ctx.tree, pattern).elements())
      declareLocal(ctx, LocalKind::Loop, ctx.text(element), ctx.span(element), errorType(ctx),
                   element);
    name = "";
  }
  if (!domain.element) {
    head.var = declareLocal(ctx, LocalKind::Loop, name, span, errorType(ctx), pattern);
  } else if (domain.isTiles) {
    head.var = declareRange(ctx, head, domain, pattern);
  } else {
    head.var = declareLocal(ctx, LocalKind::Loop, name, span, domain.element, pattern);
    if (head.var->symbol && domain.iterable->kind == ExprKind::List)
      addListBounds(ctx, domain.iterable, *head.var->symbol);
    else if (head.var->symbol && domain.iterable->type->kind == TypeKind::Range)
      ctx.facts.addLoopIndex({*head.var->symbol, boundOf(ctx, domain.lo), boundOf(ctx, domain.hi),
                              boundOf(ctx, domain.step), span});
  }
  return head;
}

LoopHead checkLoopBinding(Context &ctx, NodeId node) {
  LoopBindingView binding(ctx.tree, node);
  LoopDomain domain = checkDomain(ctx, binding.domain());
  return bindLoop(ctx, domain, binding.pattern());
}

} // namespace ptl
