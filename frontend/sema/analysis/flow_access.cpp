#include "frontend/sema/analysis/flow_access.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/data_facts.h"
#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/flow_report.h"
#include "frontend/sema/analysis/flow_walker.h"
#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/make_node.h"

#include <algorithm>

namespace ptl {

static void readElements(FlowContext &flow, const Elements &elements);
static void noteAccess(FlowContext &flow, const Elements &elements, bool isWrite,
                       const AssignStmt *stmt);
static void noteAtomic(FlowContext &flow, const Elements &elements, bool isWrite,
                       const AssignStmt *stmt);

// ---- Reads --------------------------------------------------------------------------------------

static void readAll(FlowContext &flow, const std::vector<Expr *> &exprs) {
  for (const Expr *expr : exprs)
    readExpr(flow, expr);
}

/// The positions within `x[…][…]`, without what they select.
void readIndices(FlowContext &flow, const Expr *expr) {
  // Each layer of indexing has positions of its own, and all of them are read.
  while (expr->kind == ExprKind::Index || expr->kind == ExprKind::Field) {
    if (expr->kind == ExprKind::Field) {
      expr = cast<FieldExpr>(expr)->base;
      continue;
    }
    const auto *index = cast<IndexExpr>(expr);
    for (const IndexItem &item : index->items)
      readExpr(flow, item.value);
    readExpr(flow, index->outside);
    expr = index->base;
  }
}

static void readCall(FlowContext &flow, const CallExpr &call) {
  // All arguments are read before the call writes any.
  for (const CallArg &arg : call.args)
    if (arg.value)
      readExpr(flow, arg.value); // an `inout` is read too
  for (const auto &tunable : call.tunables)
    readExpr(flow, tunable.second);
  for (const CallArg &arg : call.args)
    if (arg.isInout && arg.value)
      if (auto elements = elementsOf(flow.ctx.dims, arg.value, flow.data.values))
        writeElements(flow, std::move(*elements), nullptr);
}

/// The right side may not be computed at all, so what it writes or asserts counts only within it.
static void readLogical(FlowContext &flow, const LogicalExpr &logical) {
  readExpr(flow, logical.lhs);
  Known known = flow.known();
  FlowState state = flow.state;
  readExpr(flow, logical.rhs);
  flow.setKnown(std::move(known));
  flow.state = std::move(state);
  flow.state.written.resize(flow.tracked.size());
}

void readExpr(FlowContext &flow, const Expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case ExprKind::LocalRef:
  case ExprKind::Index:
  case ExprKind::Field:
    // What names elements of a local reads only these, and the positions in between.
    if (auto elements = elementsOf(flow.ctx.dims, expr, flow.data.values)) {
      readIndices(flow, expr);
      return readElements(flow, *elements);
    }
    // Anything else is computed as a whole.
    if (expr->kind == ExprKind::Field)
      return readExpr(flow, cast<FieldExpr>(expr)->base);
    if (const auto *index = dyn_cast<IndexExpr>(expr)) {
      readExpr(flow, index->base);
      for (const IndexItem &item : index->items)
        readExpr(flow, item.value);
      readExpr(flow, index->outside);
    }
    return;
  case ExprKind::Block:
    readAll(flow, cast<BlockExpr>(expr)->ins);
    return;
  case ExprKind::Op:
    readAll(flow, cast<OpExpr>(expr)->args);
    return readAll(flow, cast<OpExpr>(expr)->rest);
  case ExprKind::Convert:
    return readExpr(flow, cast<ConvertExpr>(expr)->arg);
  case ExprKind::Call:
    return readCall(flow, *cast<CallExpr>(expr));
  case ExprKind::If: {
    const auto *branch = cast<IfExpr>(expr);
    readExpr(flow, branch->condition);
    return walkArms(flow, branch->condition, branch->thenBlock, branch->elseBlock);
  }
  case ExprKind::Range: {
    const auto *range = cast<RangeExpr>(expr);
    return readAll(flow, {range->lo, range->hi, range->step});
  }
  case ExprKind::Tiles: {
    const auto *tiles = cast<TilesExpr>(expr);
    return readAll(flow, {tiles->lo, tiles->hi, tiles->size});
  }
  case ExprKind::Tuple:
    return readAll(flow, cast<TupleExpr>(expr)->elements);
  case ExprKind::List:
    return readAll(flow, cast<ListExpr>(expr)->elements);
  case ExprKind::StructMake:
    return readAll(flow, cast<StructMakeExpr>(expr)->fields);
  case ExprKind::Logical:
    return readLogical(flow, *cast<LogicalExpr>(expr));
  case ExprKind::Error:
  case ExprKind::Const:
  case ExprKind::Dim:
  case ExprKind::String:
  case ExprKind::EnumTag:
    return;
  }
}

/// For coverage a struct is one thing.
static Region coverageRegion(const Elements &elements) {
  return elements.local->type->isArray() ? elements.region : Region();
}

static void readElements(FlowContext &flow, const Elements &elements) {
  noteAccess(flow, elements, false, nullptr);
  size_t number = 0;
  Tracked *tracked = flow.trackedOf(elements.local, &number);
  // In code that is never reached nothing has to be written.
  if (!tracked || !flow.state.isReachable || flow.isReported(tracked->local))
    return;
  Region region = coverageRegion(elements);
  if (flow.regions(elements.local).containsAny(flow.state.written[number], region) ||
      flow.regions(elements.local).isEmpty(region))
    return;
  // The number of failures tells loops whether they have to try another assumption.
  ++flow.failures;
  if (flow.muted == 0)
    reportRead(flow, *tracked, number, elements);
}

// ---- Writes -------------------------------------------------------------------------------------

void writeElements(FlowContext &flow, Elements elements, const AssignStmt *stmt) {
  noteAccess(flow, elements, true, stmt);
  size_t number = 0;
  Tracked *tracked = flow.trackedOf(elements.local, &number);
  bool isAtomic = stmt && stmt->mode != AssignMode::Set;
  // An atomic update needs an initial value, so it does not cover elements.
  if (!tracked || !flow.state.isReachable || isAtomic)
    return;
  Region region = coverageRegion(elements);
  tracked->stores.push_back(elements.span);
  for (const AxisSet &set : region.axes)
    if (!set.isInterval() && set.kind != AxisSet::Kind::Full)
      // Such a write covers an unknown position, which is noted for the message.
      tracked->drops.push_back({elements.span, "this position is known only at run time", false});
  flow.regions(elements.local).add(flow.state.written[number], std::move(region));
}

/// Whether other iterations see what one does to it.
static bool isShared(const Local *local) {
  return local->kind == LocalKind::Output || local->isInout;
}

/// Remembers an access of an iteration to what other iterations see.
static void noteAccess(FlowContext &flow, const Elements &elements, bool isWrite,
                       const AssignStmt *stmt) {
  if (!isShared(elements.local))
    return;
  // Atomics are checked for the whole kernel, not only within a grid.
  noteAtomic(flow, elements, isWrite, stmt);
  if (!flow.frame)
    return;
  bool isAtomic = stmt && stmt->mode != AssignMode::Set;
  // The facts are those of this place in the program, so they are copied.
  flow.frame->accesses.push_back({elements, isWrite, isAtomic, flow.conditions > 0, flow.ctx.facts,
                                  flow.data.values.contents});
}

static void noteAtomic(FlowContext &flow, const Elements &elements, bool isWrite,
                       const AssignStmt *stmt) {
  AtomicUse &use = flow.atomics[elements.local];
  bool isAtomic = isWrite && stmt && stmt->mode != AssignMode::Set;
  // The same atomic update may be repeated; another kind of access must not mix with it.
  if (isAtomic && (!use.atomic || use.atomic->mode == stmt->mode)) {
    use.atomic = use.atomic ? use.atomic : stmt;
    reportAtomicStart(flow, elements.local, *stmt);
    return;
  }
  if (!use.other)
    use.other = elements.span;
}

void checkScatter(FlowContext &flow, const AssignStmt &stmt, const Elements &elements) {
  if (stmt.mode != AssignMode::Set)
    return;
  for (const IndexItem &item : stmt.place->items) {
    // Positions that are all different write different elements.
    if (item.kind != IndexItemKind::Gather || isKnownUnique(item.value, flow.data.values))
      continue;
    const Local *table = nullptr;
    for (const AxisSet &set : elements.region.axes)
      if (set.kind == AxisSet::Kind::Lookup || set.kind == AxisSet::Kind::Value)
        table = set.local;
    // The fact was stated of the whole table.
    if (table && flow.data.values.contents.unique.contains(table))
      continue;
    if (flow.isReported(elements.local))
      return;
    // A loop may be walked several times, but reports once.
    if (!flow.checked.insert(&stmt).second)
      return;
    flow.data.reported.insert(elements.local);
    std::string text(flow.ctx.text(item.span));
    auto report =
        flow.ctx.sink.report(DiagId::ScatterNeedsUnique, item.span, {text, elements.local->name});
    bool isParam = table && table->kind == LocalKind::Param;
    if (isParam)
      report.label(table->span, "it is not known that its values differ")
          .help("state it: `where unique(" + table->name + ")`");
    else
      // A fact is known of an array that has a name.
      report.help(table ? "state that its values differ: `assert(unique(" + table->name + "))`"
                        : "give it a name and state that its values differ: `let positions = " +
                              text + "` and `assert(unique(positions))`");
    return;
  }
}

// ---- Facts --------------------------------------------------------------------------------------

/// Facts of a condition that holds from here on.
void learnCondition(FlowContext &flow, const Expr *condition) {
  if (isMissing(condition))
    return;
  assumeCondition(flow.ctx, condition);
  if (const auto *logical = dyn_cast<LogicalExpr>(condition)) {
    // Both sides of an `and` hold; of an `or` nothing is known on its own.
    if (logical->isAnd) {
      learnCondition(flow, logical->lhs);
      learnCondition(flow, logical->rhs);
    }
    return;
  }
  const auto *op = dyn_cast<OpExpr>(condition);
  if (!op)
    return;
  std::string_view name = op->op ? op->op->name : std::string_view();
  if ((name != "unique" && name != "sorted" && name != "permutation") || op->args.empty() ||
      !op->args[0])
    return;
  auto elements = elementsOf(flow.ctx.dims, withAllAxes(op->args[0]), flow.data.values);
  // A fact about a part says nothing of the whole.
  if (!elements || elements->region != wholeRegion(elements->type))
    return;
  const Local *local = elements->local;
  Contents &contents = flow.data.values.contents;
  (name == "sorted" ? contents.sorted : contents.unique).insert(local);
  const auto &extents = local->type->extents;
  bool isCounted = !local->type->prefix && extents.size() == 1;
  // Positions that are all different and below their number are a permutation, by counting.
  if (name == "permutation" ||
      (name == "unique" && isCounted && valuesWithin(flow.ctx, local, extents[0].length)))
    contents.permutations.insert(local);
}

/// Remembers that `symbol` is an element of an array that does not change.
void learnElement(FlowContext &flow, Dim symbol, const Expr *value) {
  if (!symbol || !symbol.symbol() || !value || value->dim)
    return;
  value = withoutWidening(value);
  // An element with a name: `let p = idx[i]`.
  while (value->kind == ExprKind::LocalRef && !value->dim) {
    auto named = flow.data.values.lets.find(cast<LocalRefExpr>(value)->local);
    if (named == flow.data.values.lets.end())
      break;
    value = withoutWidening(named->second);
  }
  auto elements = elementsOf(flow.ctx.dims, value, flow.data.values);
  // The element must not change as long as the symbol is in use.
  if (!elements || elements->local->kind != LocalKind::Param || elements->local->isInout ||
      elements->region.axes.size() != 1 || !elements->region.axes[0].isInterval())
    return;
  flow.data.values.elements.push_back(
      {*symbol.symbol(), elements->local, elements->region.axes[0].start});
}

void learnBoundsOf(FlowContext &flow, const LoopDomain &domain, const Expr *iterable) {
  if (!iterable || !domain.hasHiddenBounds)
    return;
  if (iterable->kind == ExprKind::Tiles) {
    learnElement(flow, domain.lo, cast<TilesExpr>(iterable)->lo);
    learnElement(flow, domain.hi, cast<TilesExpr>(iterable)->hi);
  } else if (iterable->kind == ExprKind::Range) {
    learnElement(flow, domain.lo, cast<RangeExpr>(iterable)->lo);
    learnElement(flow, domain.hi, cast<RangeExpr>(iterable)->hi);
  }
}

/// A store whose bounds are checked at run time proves the bounds of its positions for the
/// statements behind it.
void learnBounds(FlowContext &flow, const IndexExpr &place) {
  const Type *type = place.base->type;
  DimContext &dims = flow.ctx.dims;
  for (const IndexItem &item : place.items) {
    // Items are counted from the last axis.
    size_t axis = type->extents.size() + static_cast<size_t>(item.axis);
    if (!item.needsCheck || item.kind == IndexItemKind::NewAxis || axis >= type->extents.size())
      continue;
    Dim length = type->extents[axis].length;
    if (item.kind == IndexItemKind::Position && item.value->dim) {
      flow.ctx.facts.addLessEqual(dims.constant(0), item.value->dim, item.span);
      flow.ctx.facts.addLess(item.value->dim, length, item.span);
    } else if (item.kind == IndexItemKind::Range && item.range->step.isConstant(1)) {
      flow.ctx.facts.addLessEqual(dims.constant(0), item.range->start, item.span);
      flow.ctx.facts.addLessEqual(dims.constant(0), item.range->length, item.span);
      flow.ctx.facts.addLessEqual(dims.add(item.range->start, item.range->length), length,
                                  item.span);
    }
  }
}

} // namespace ptl
