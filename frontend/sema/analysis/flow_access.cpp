// Expressions: what they read, and what calls and assignments write.
#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/data_facts.h"
#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/flow_walker.h"
#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/make_node.h"

#include <algorithm>

namespace ptl {

// ---- Reads --------------------------------------------------------------------------------------

void FlowWalker::readAll(const std::vector<Expr *> &exprs) {
  for (const Expr *expr : exprs)
    read(expr);
}

/// The positions within `x[…][…]`, without what they select.
void FlowWalker::readIndices(const Expr *expr) {
  while (expr->kind == ExprKind::Index || expr->kind == ExprKind::Field) {
    if (expr->kind == ExprKind::Field) {
      expr = cast<FieldExpr>(expr)->base;
      continue;
    }
    const auto *index = cast<IndexExpr>(expr);
    for (const IndexItem &item : index->items)
      read(item.value);
    read(index->outside);
    expr = index->base;
  }
}

void FlowWalker::readCall(const CallExpr &call) {
  for (const CallArg &arg : call.args)
    if (arg.value)
      read(arg.value); // an `inout` is read too
  for (const auto &tunable : call.tunables)
    read(tunable.second);
  for (const CallArg &arg : call.args)
    if (arg.isInout && arg.value)
      if (auto elements = elementsOf(ctx_.dims, arg.value, data_.values))
        writeElements(std::move(*elements), nullptr);
}

void FlowWalker::read(const Expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case ExprKind::LocalRef:
  case ExprKind::Index:
  case ExprKind::Field:
    if (auto elements = elementsOf(ctx_.dims, expr, data_.values)) {
      readIndices(expr);
      return readElements(*elements);
    }
    if (expr->kind == ExprKind::Field)
      return read(cast<FieldExpr>(expr)->base);
    if (const auto *index = dyn_cast<IndexExpr>(expr)) {
      read(index->base);
      for (const IndexItem &item : index->items)
        read(item.value);
      read(index->outside);
    }
    return;
  case ExprKind::Block:
    readAll(cast<BlockExpr>(expr)->ins);
    return;
  case ExprKind::Op:
    readAll(cast<OpExpr>(expr)->args);
    return readAll(cast<OpExpr>(expr)->rest);
  case ExprKind::Convert:
    return read(cast<ConvertExpr>(expr)->arg);
  case ExprKind::Call:
    return readCall(*cast<CallExpr>(expr));
  case ExprKind::If: {
    const auto *branch = cast<IfExpr>(expr);
    read(branch->condition);
    return arms(branch->condition, branch->thenBlock, branch->elseBlock);
  }
  case ExprKind::Range: {
    const auto *range = cast<RangeExpr>(expr);
    return readAll({range->lo, range->hi, range->step});
  }
  case ExprKind::Tiles: {
    const auto *tiles = cast<TilesExpr>(expr);
    return readAll({tiles->lo, tiles->hi, tiles->size});
  }
  case ExprKind::Tuple:
    return readAll(cast<TupleExpr>(expr)->elements);
  case ExprKind::List:
    return readAll(cast<ListExpr>(expr)->elements);
  case ExprKind::StructMake:
    return readAll(cast<StructMakeExpr>(expr)->fields);
  case ExprKind::Logical: {
    const auto *logical = cast<LogicalExpr>(expr);
    return readAll({logical->lhs, logical->rhs});
  }
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

void FlowWalker::readElements(const Elements &elements) {
  note(elements, false, nullptr);
  size_t number = 0;
  Tracked *tracked = trackedOf(elements.local, &number);
  if (!tracked || !state_.isReachable || isReported(tracked->local))
    return;
  Region region = coverageRegion(elements);
  if (regions(elements.local).containsAny(state_.written[number], region) ||
      regions(elements.local).isEmpty(region))
    return;
  ++failures_;
  if (muted_ == 0)
    reportRead(*tracked, number, elements);
}

// ---- Writes -------------------------------------------------------------------------------------

void FlowWalker::writeElements(Elements elements, const AssignStmt *stmt) {
  note(elements, true, stmt);
  size_t number = 0;
  Tracked *tracked = trackedOf(elements.local, &number);
  bool isAtomic = stmt && stmt->mode != AssignMode::Set;
  if (!tracked || !state_.isReachable || isAtomic)
    return;
  Region region = coverageRegion(elements);
  tracked->stores.push_back(elements.span);
  for (const AxisSet &set : region.axes)
    if (!set.isInterval() && set.kind != AxisSet::Kind::Full)
      tracked->drops.push_back({elements.span, "this position is known only when it runs", false});
  regions(elements.local).add(state_.written[number], std::move(region));
}

/// Remembers an access of an iteration to what other iterations see.
void FlowWalker::note(const Elements &elements, bool isWrite, const AssignStmt *stmt) {
  if (!isShared(elements.local))
    return;
  noteAtomic(elements, isWrite, stmt);
  if (!frame_)
    return;
  bool isAtomic = stmt && stmt->mode != AssignMode::Set;
  frame_->accesses.push_back({elements, isWrite, isAtomic, conditions_ > 0, ctx_.facts});
}

void FlowWalker::noteAtomic(const Elements &elements, bool isWrite, const AssignStmt *stmt) {
  AtomicUse &use = atomics_[elements.local];
  bool isAtomic = isWrite && stmt && stmt->mode != AssignMode::Set;
  if (isAtomic && (!use.atomic || use.atomic->mode == stmt->mode)) {
    use.atomic = use.atomic ? use.atomic : stmt;
    reportAtomicStart(elements.local, *stmt);
    return;
  }
  if (!use.other)
    use.other = elements.span;
}

void FlowWalker::checkScatter(const AssignStmt &stmt, const Elements &elements) {
  if (stmt.mode != AssignMode::Set)
    return;
  for (const IndexItem &item : stmt.place->items) {
    if (item.kind != IndexItemKind::Gather || isKnownUnique(item.value, data_.values))
      continue;
    const Local *table = nullptr;
    for (const AxisSet &set : elements.region.axes)
      if (set.kind == AxisSet::Kind::Lookup || set.kind == AxisSet::Kind::Value)
        table = set.local;
    if (table && data_.values.unique.contains(table))
      continue;
    if (isReported(elements.local))
      return;
    if (!checked_.insert(&stmt).second)
      return;
    data_.reported.insert(elements.local);
    std::string text = sourceText(item.span);
    auto report =
        ctx_.sink.report(DiagId::ScatterNeedsUnique, item.span, {text, elements.local->name});
    bool isParam = table && table->kind == LocalKind::Param;
    if (isParam)
      report.label(table->span, "nothing says that its values differ")
          .help("state it: `where unique(" + table->name + ")`");
    else
      report.help("state that its values differ: `assert(unique(" + (table ? table->name : text) +
                  "))`");
    return;
  }
}

// ---- Facts --------------------------------------------------------------------------------------

/// Facts of a condition that holds from here on.
void FlowWalker::learn(const Expr *condition) {
  if (isMissing(condition))
    return;
  assumeCondition(ctx_, condition);
  if (const auto *logical = dyn_cast<LogicalExpr>(condition)) {
    if (logical->isAnd) {
      learn(logical->lhs);
      learn(logical->rhs);
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
  auto elements = elementsOf(ctx_.dims, withAllAxes(op->args[0]), data_.values);
  if (!elements || elements->region != wholeRegion(elements->type))
    return;
  const Local *local = elements->local;
  (name == "sorted" ? data_.values.sorted : data_.values.unique).insert(local);
  const auto &extents = local->type->extents;
  bool isCounted = !local->type->prefix && extents.size() == 1;
  if (name == "permutation" ||
      (name == "unique" && isCounted && valuesWithin(ctx_, local, extents[0].length)))
    data_.values.permutations.insert(local);
}

/// Remembers that `symbol` is an element of an array that does not change.
void FlowWalker::learnElement(Dim symbol, const Expr *value) {
  if (!symbol || !symbol.symbol() || !value || value->dim)
    return;
  value = withoutWidening(value);
  auto elements = elementsOf(ctx_.dims, value, data_.values);
  if (!elements || elements->local->kind != LocalKind::Param || elements->local->isInout ||
      elements->region.axes.size() != 1 || !elements->region.axes[0].isInterval())
    return;
  data_.values.elements.push_back(
      {*symbol.symbol(), elements->local, elements->region.axes[0].start});
}

void FlowWalker::learnBoundsOf(const LoopDomain &domain, const Expr *iterable) {
  if (!iterable || !domain.hasHiddenBounds)
    return;
  if (iterable->kind == ExprKind::Tiles) {
    learnElement(domain.lo, cast<TilesExpr>(iterable)->lo);
    learnElement(domain.hi, cast<TilesExpr>(iterable)->hi);
  } else if (iterable->kind == ExprKind::Range) {
    learnElement(domain.lo, cast<RangeExpr>(iterable)->lo);
    learnElement(domain.hi, cast<RangeExpr>(iterable)->hi);
  }
}

/// A store that was checked when it ran tells the bounds of its positions.
void FlowWalker::learnBounds(const IndexExpr &place) {
  const Type *type = place.base->type;
  DimContext &dims = ctx_.dims;
  for (const IndexItem &item : place.items) {
    size_t axis = type->extents.size() + static_cast<size_t>(item.axis);
    if (!item.needsCheck || item.kind == IndexItemKind::NewAxis || axis >= type->extents.size())
      continue;
    Dim length = type->extents[axis].length;
    if (item.kind == IndexItemKind::Position && item.value->dim) {
      ctx_.facts.addLessEqual(dims.constant(0), item.value->dim, item.span);
      ctx_.facts.addLess(item.value->dim, length, item.span);
    } else if (item.kind == IndexItemKind::Range && item.range->step.isConstant(1)) {
      ctx_.facts.addLessEqual(dims.constant(0), item.range->start, item.span);
      ctx_.facts.addLessEqual(dims.constant(0), item.range->length, item.span);
      ctx_.facts.addLessEqual(dims.add(item.range->start, item.range->length), length, item.span);
    }
  }
}

} // namespace ptl
