// The walk over the body of a program: pages of pools. A page is a function of the rows up to its own and of what does not change
// from row to row, so that its key says all of it.
#include "frontend/sema/placement/place_choice.h"
#include "frontend/sema/placement/placer.h"
#include "frontend/sema/placement/pool_call.h"

#include <set>
#include <utility>

namespace ptl {

void refusePool(DiagnosticSink &sink, Span span, const std::string &what, const std::string &why) {
  sink.report(DiagId::PoolMisused, span, {what, why})
      .help("use a page as in `if p < find(kv, rows) { kv[p] } else { keep(kv, page) }`");
  throw Refused();
}

/// The level whose parts have one memory; nothing where each has its own.
static std::optional<size_t> levelOver(const PlacedProgram &placed, const Tree &tree,
                                       const PoolUse &use, DiagnosticSink &sink) {
  if (use.over == kNoNode)
    return std::nullopt;
  auto level = std::ranges::find(placed.levels, tree.text(use.over), &PlacedLevel::name);
  if (level != placed.levels.end())
    return static_cast<size_t>(level - placed.levels.begin());
  std::string known;
  for (const PlacedLevel &each : placed.levels)
    known += (known.empty() ? "`" : ", `") + each.name + "`";
  refusePool(sink, tree.span(use.over), "`pool`",
             "the arrays of this program lie over " + known + ", not over `" +
                 std::string(tree.text(use.over)) + "`");
}

bool makesPool(PlacedProgram &placed, const Tree &tree, const LetStmt &stmt, bool isInside,
               DiagnosticSink &sink) {
  const PoolUse *use = poolUseOf(stmt.value);
  if (!use || use->kind != PoolUse::Kind::Make)
    return false;
  if (stmt.isVar || isInside)
    refusePool(sink, stmt.span, "`pool`", "a pool must be declared by a `let` outside of loops");
  const Local *local = stmt.locals[0];
  if (std::ranges::find(placed.pools, local, &PlacedPool::local) == placed.pools.end())
    placed.pools.push_back({local, use->memory, use->disk, levelOver(placed, tree, *use, sink)});
  return true;
}

/// `p < find(kv, rows)`; null for other conditions.
static const ConvertExpr *findOf(const Expr &condition) {
  const auto *less = dyn_cast<OpExpr>(&condition);
  if (!less || less->op->id != OpId::Lt || less->args.size() != 2)
    return nullptr;
  const PoolUse *use = poolUseOf(less->args[1]);
  return use && use->kind == PoolUse::Kind::Find ? cast<ConvertExpr>(less->args[1]) : nullptr;
}

std::optional<PageForm> pageFormOf(const IfExpr &expr, DiagnosticSink &sink) {
  const ConvertExpr *find = findOf(*expr.condition);
  if (!find)
    return std::nullopt;
  const Local *pool = find->pool->pool;
  auto uses = [&](const Block *arm, PoolUse::Kind kind) -> const ConvertExpr * {
    const PoolUse *use = arm ? poolUseOf(arm->value) : nullptr;
    return use && use->kind == kind && use->pool == pool ? cast<ConvertExpr>(arm->value) : nullptr;
  };
  const ConvertExpr *taken = uses(expr.thenBlock, PoolUse::Kind::Page);
  const ConvertExpr *keep = uses(expr.elseBlock, PoolUse::Kind::Keep);
  const Expr *counter = cast<OpExpr>(*expr.condition).args[0];
  std::string name = "`" + pool->name + "`";
  // The pool is known to have the page that the condition asked about, and no other: a `let` in this arm or another number could read a
  // page that was never kept.
  bool isSame = taken && taken->pool->with->dim == counter->dim;
  if (!isSame || !expr.thenBlock->stmts.empty())
    refusePool(sink, expr.condition->span, name,
               "the arm for a page that is found must only take it, `{ " + pool->name + "[p] }`");
  if (!keep)
    refusePool(sink, expr.condition->span, name,
               "the other arm must compute the page and end with `keep(" + pool->name + ", page)`");
  return PageForm{pool, counter, find->pool->with, taken->pool->with, keep};
}

/// A page in the memory of the parts of a level: a movement from the part that has it, or to the one where it will lie.
static PlacedValue movedPage(const PlacedValue &kept, ValueId from, size_t level, MovementId how,
                             const Expr &expr) {
  PlacedValue made = kept;
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movementRecord(how);
  made.how = {};
  made.level = level;
  made.operands = {from};
  made.positions = {};
  made.over = {};
  return made;
}

void PoolWalk::checkWhole(const PlacedPage &page, const Expr &made) {
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level)
    if (p_.placed_.values[page.kept].placement[level].isPartial()) {
      p_.reports_.partial(level, page.keep->span, p_.reported(made, page.kept), "`keep`");
      throw Refused();
    }
}

void PoolWalk::store(PlacedPage &page) {
  std::optional<size_t> over = p_.placed_.pools[page.pool].over;
  if (!over)
    return;
  const PlacedValue kept = p_.placed_.values[page.kept];
  const LevelPlacement &at = kept.placement[*over];
  const std::string &level = p_.placed_.levels[*over].name;
  if (at.isCut())
    refusePool(p_.sink_, page.keep->span, "`keep`",
               "the page is cut over `" + level + "`, so each " + level +
                   " keeps its own block, and their memory is not one; leave `over: " + level +
                   "` out");
  if (!at.isSingle())
    return;
  PlacedValue stored = movedPage(kept, page.kept, *over, MovementId::Send, *page.keep);
  stored.placement[*over] = onPart(0);
  page.stored = p_.add(std::move(stored));
}

ValueId PoolWalk::found(PlacedPage &page, const IfExpr &expr) {
  PlacedValue found = p_.placed_.values[page.kept];
  found.kind = PlacedKind::Page;
  found.expr = &expr;
  found.operands = {};
  found.positions = {};
  std::optional<size_t> over = p_.placed_.pools[page.pool].over;
  if (!over)
    return p_.add(std::move(found));
  found.placement[*over] = onPart(0);
  ValueId lies = p_.add(std::move(found));
  const PlacedValue kept = p_.placed_.values[page.kept];
  MovementId how = kept.placement[*over].isSingle() ? MovementId::Send : MovementId::Broadcast;
  page.fetched = p_.add(movedPage(kept, lies, *over, how, *expr.thenBlock->value));
  return *page.fetched;
}

ValueId PoolWalk::page(const IfExpr &expr, const PageForm &form) {
  Dim position = p_.inProgram(form.counter->dim);
  std::optional<SymbolId> counter = position ? position.symbol() : std::nullopt;
  auto known = std::ranges::find(p_.placed_.pools, form.pool, &PlacedPool::local);
  if (p_.outermost_ || known == p_.placed_.pools.end() || !counter)
    refusePool(p_.sink_, p_.spanOf(*expr.condition), "`" + form.pool->name + "`",
               "pages must be used in a loop of the program, `for p in 0..P`, with its variable "
               "`p` as their number");
  PlacedPage page;
  page.pool = static_cast<size_t>(known - p_.placed_.pools.begin());
  page.counter = *counter;
  page.keep = form.keep;
  page.rows = p_.value(*form.rows);
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level)
    if (!p_.placed_.values[page.rows].placement[level].isWhole()) {
      ReportedValue rows = p_.reported(*form.rows, page.rows);
      p_.reports_.needsWhole(level, form.rows->span, "`find`",
                             "its rows are " + p_.reports_.describe(level, *rows.value) +
                                 ", but every part computes keys from them",
                             rows);
      throw Refused();
    }
  PlacedValue missing;
  missing.kind = PlacedKind::Missing;
  missing.elem = ElemKind::Bool;
  missing.expr = &expr;
  missing.operands = {page.rows};
  missing.positions = {{0, p_.dims_.symbolDim(page.counter)}};
  PlacedChoice choice{expr.condition, p_.add(std::move(missing))};
  const Expr &made = *form.keep->arg;
  const std::map<const Local *, ValueId> before = p_.frame_->locals;
  // The choice asks whether the page is missing, so its first arm is the `else` block of the source, which makes one.
  ChoiceWalk::ArmEnd then = ChoiceWalk(p_).arm(choice, true, [&]() -> std::optional<ValueId> {
    for (const Stmt *stmt : expr.elseBlock->stmts)
      p_.statement(*stmt);
    page.kept = p_.value(made);
    checkWhole(page, made);
    store(page);
    return page.kept;
  });
  // A page that is found brings its value and nothing else, so making one may assign nothing that lives on.
  for (const auto &[local, id] : before)
    if (then.locals.at(local) != id)
      refusePool(p_.sink_, page.keep->span, "`keep`",
                 "the arm that computes a page also assigns `" + local->name +
                     "`, which would not happen for a page that is found");
  // A page that is found has the shape and the placement of one that is made.
  ChoiceWalk::ArmEnd other = ChoiceWalk(p_).arm(
      choice, false, [&]() -> std::optional<ValueId> { return found(page, expr); });
  ReportedValue both = p_.reported(made, page.kept);
  ValueId id = ChoiceWalk(p_).chosen(choice, page.kept, *other.value, "the page", both, both);
  p_.placed_.values[id].expr = &expr;
  choice.end = id + 1;
  choice.page = std::move(page);
  p_.placed_.choices.push_back(std::move(choice));
  return id;
}

// ---- What a page is a function of ----------------------------------------------------------------

namespace {

/// Follows a page to all that it is computed from.
class PageWalk {
public:
  PageWalk(const PlacedProgram &placed, const PlacedChoice &choice, const PlacedLoop &loop)
      : placed_(placed), choice_(choice), page_(*choice.page), loop_(loop) {}

  /// Why the key of the page would not say all that the page depends on; empty if it does.
  std::string run(PageSource &source) {
    visit(page_.kept);
    while (!open_.empty() && why_.empty()) {
      ValueId id = open_.back();
      open_.pop_back();
      follow(id);
    }
    source.arguments.assign(arguments_.begin(), arguments_.end());
    source.numbers.assign(numbers_.begin(), numbers_.end());
    return why_;
  }

private:
  bool isInLoop(ValueId id) const { return id >= loop_.first && id < loop_.end; }

  void visit(ValueId id) {
    if (seen_.insert(id).second)
      open_.push_back(id);
  }

  void needs(ValueId user, ValueId id) {
    if (id == page_.rows)
      why_ = "the page depends on all rows of `find`, but its key is made of the rows up to its "
             "own; index them by the loop variable, `rows[p, :]`";
    else if (isInLoop(id) && !isInLoop(user))
      why_ = "the page depends on the result of an earlier run of the loop over the pages";
    else
      visit(id);
  }

  /// Whether the page is made in the rounds of a loop.
  bool isAround(const PlacedLoop &loop) const {
    return choice_.first >= loop.first && choice_.end <= loop.end;
  }

  /// Numbers that the page is made with. Counters of loops that have ended, or that begin in the arm, follow from their bounds.
  void add(Dim dim) {
    if (dim)
      forEachSymbol(dim, [&](SymbolId symbol) {
        bool isCounted = std::ranges::any_of(placed_.loops, [&](const PlacedLoop &loop) {
          return loop.stmt && loop.variable == symbol && (&loop == &loop_ || !isAround(loop));
        });
        if (!isCounted)
          numbers_.insert(symbol);
      });
  }

  /// The row of the page itself.
  bool isOwnRow(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    if (value.kind != PlacedKind::Index || value.operands[0] != page_.rows || !isInLoop(id))
      return false;
    return std::ranges::any_of(value.positions, [&](const auto &each) {
      return each.first == 0 && each.second.symbol() == page_.counter;
    });
  }
  /// What a loop around carries differs from round to round, so its counter decides, and not where it will end.
  void followRounds(const PlacedLoop &loop) {
    add(loop.lo);
    add(loop.step);
    if (isAround(loop))
      numbers_.insert(loop.variable);
    else
      add(loop.hi);
  }

  void followLoop(ValueId id) {
    for (const PlacedLoop &loop : placed_.loops) {
      if (id < loop.first || id >= loop.body())
        continue;
      needs(id, loop.carried[id - loop.first].next);
      if (loop.every)
        why_ = "the page depends on a variable of a loop with checkpoints, which another run may "
               "have started";
      else if (!loop.stmt && isAround(loop))
        why_ = "the page depends on a variable of a `while` around it, whose iterations have no "
               "number";
      else if (!loop.stmt)
        needs(id, loop.holds);
      else if (&loop != &loop_)
        followRounds(loop);
    }
  }

  /// A page that is found is what the other arm makes.
  void followChoice(ValueId id) {
    const PlacedValue &value = placed_.values[id];
    for (const PlacedChoice &choice : placed_.choices)
      if (id >= choice.chosen && id < choice.end) {
        needs(id, *value.operands[0]);
        if (choice.page)
          continue;
        needs(id, *value.operands[1]);
        needs(id, choice.holds);
      }
  }

  void follow(ValueId id) {
    const PlacedValue &value = placed_.values[id];
    for (Dim dim : value.shape)
      add(dim);
    add(value.dim);
    for (const auto &[axis, position] : value.positions)
      add(position);
    for (const PlacedSelection &each : value.selected)
      for (Dim dim : {each.start, each.length, each.step, each.stop})
        add(dim);
    for (Dim dim : value.lengths)
      add(dim);
    if (value.kind == PlacedKind::Argument)
      arguments_.insert(id);
    if (value.kind == PlacedKind::Chosen)
      return followChoice(id);
    if (value.kind == PlacedKind::Carried)
      followLoop(id);
    // Of its own row the page has only what the row holds, at positions that it may compute.
    for (size_t i = isOwnRow(id) ? 1 : 0; i < value.operands.size(); ++i)
      if (value.operands[i])
        needs(id, *value.operands[i]);
  }

  const PlacedProgram &placed_;
  const PlacedChoice &choice_;
  const PlacedPage &page_;
  const PlacedLoop &loop_;
  std::set<ValueId> seen_, arguments_;
  std::set<SymbolId> numbers_;
  std::vector<ValueId> open_;
  std::string why_;
};

} // namespace

void findPageSources(PlacedProgram &placed, DiagnosticSink &sink) {
  for (PlacedChoice &choice : placed.choices) {
    if (!choice.page)
      continue;
    auto loop = std::ranges::find_if(placed.loops, [&](const PlacedLoop &each) {
      return each.stmt && each.variable == choice.page->counter && choice.first >= each.body() &&
             choice.end <= each.end;
    });
    Span span = choice.page->keep->span;
    if (loop == placed.loops.end() || !loop->lo.isConstant(0) || !loop->step.isConstant(1))
      refusePool(sink, span, "`keep`",
                 "pages must be kept in the order of their rows, in a loop `for p in 0..P`");
    if (choice.page->rows >= loop->first)
      refusePool(sink, span, "`find`", "its rows must be computed before the loop over the pages");
    std::string why = PageWalk(placed, choice, *loop).run(choice.page->source);
    if (!why.empty())
      refusePool(sink, span, "`keep`", why);
  }
}

} // namespace ptl
