#include "frontend/sema/block/stage_chains.h"

#include "frontend/sema/assigned.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"

#include <algorithm>

namespace ptl {

static const RangeExpr &rangeOf(const OnStmt &section) {
  return cast<RangeExpr>(*section.stages.iterable);
}

static Dim stageOf(Context &ctx, const OnStmt &section) {
  return ctx.dims.symbolDim(*section.stages.var->symbol);
}

/// The last stage.
static Dim lastOf(Context &ctx, const OnStmt &section) {
  return ctx.dims.sub(rangeOf(section).hi->dim, ctx.dims.constant(1));
}

Dim entryOf(Context &ctx, const StageChain &chain, const OnStmt &section) {
  return ctx.dims.add(chain.offset, chain.isDown ? lastOf(ctx, section) : rangeOf(section).lo->dim);
}

Dim exitOf(Context &ctx, const StageChain &chain, const OnStmt &section) {
  if (!chain.isDown)
    return ctx.dims.add(chain.offset, rangeOf(section).hi->dim);
  return ctx.dims.sub(ctx.dims.add(chain.offset, rangeOf(section).lo->dim), ctx.dims.constant(1));
}

// ---- What stages keep ---------------------------------------------------------------------------

static void addDeclared(const Stmt &stmt, std::set<const Local *> &own) {
  if (const auto *let = dyn_cast<LetStmt>(&stmt))
    own.insert(let->locals.begin(), let->locals.end());
  forEachPart(
      stmt, [](const Expr *) {},
      [&](const Block *inner) {
        for (const Stmt *each : inner->stmts)
          addDeclared(*each, own);
      });
}

Writes storesOf(const OnStmt &section) {
  Writes stores;
  collectWrites(*section.body, stores);
  std::set<const Local *> own;
  for (const Stmt *stmt : section.body->stmts)
    addDeclared(*stmt, own);
  std::erase_if(stores, [&](const auto &each) { return own.contains(each.first); });
  return stores;
}

static bool refersTo(const Stmt &stmt, const std::function<bool(const Local *)> &isMeant) {
  bool found = false;
  forEachExprIn(stmt, [&](const Expr *expr) {
    if (const auto *ref = dyn_cast<LocalRefExpr>(expr))
      found |= isMeant(ref->local);
  });
  return found;
}

bool isRepeatable(const Stmt &stmt, const Writes &stores) {
  const auto *let = dyn_cast<LetStmt>(&stmt);
  return let && !let->isVar && !usesQueues(stmt) &&
         !refersTo(stmt, [&](const Local *local) { return stores.contains(local); });
}

/// The first assignment in a statement to anything but elements `x[s, ..]` and names of the unit; nothing if there is none.
static std::optional<Assigned> assignsOthers(const Stmt &stmt, Dim stage,
                                             const std::set<const Local *> &own) {
  std::optional<Assigned> found;
  forEachAssigned(stmt, [&](const Assigned &each) {
    const IndexExpr *place = each.place;
    bool isOwn = place && !place->items.empty() &&
                 place->items[0].kind == IndexItemKind::Position &&
                 place->items[0].value->dim == stage;
    if (!found && !isOwn && !own.contains(each.local))
      found = each;
  });
  return found;
}

// ---- Units --------------------------------------------------------------------------------------

namespace {

/// The chains of statements, or why they are no unit.
class UnitSearch {
public:
  UnitSearch(Context &ctx, const OnStmt &section)
      : ctx_(ctx), section_(section), stage_(stageOf(ctx, section)) {}

  /// `behind`: what follows the statements in the section.
  std::optional<StageUnit> find(std::span<Stmt *const> stmts, std::span<Stmt *const> behind) {
    unit_ = {{stmts.begin(), stmts.end()}, {}, false};
    problem_ = {};
    std::set<const Local *> own;
    for (const Stmt *stmt : stmts)
      addDeclared(*stmt, own);
    for (const Stmt *stmt : stmts)
      if (!take(*stmt, own))
        return std::nullopt;
    for (const StageChain &chain : unit_.chains) {
      if (!chain.push)
        return refuse([&, call = chain.pop] { reportChain(*call); });
      if (chain.isDown != unit_.chains[0].isDown)
        return refuse([&, call = chain.pop] { reportDirections(*call); });
    }
    unit_.isDown = !unit_.chains.empty() && unit_.chains[0].isDown;
    for (const Stmt *stmt : behind)
      if (refersTo(*stmt, [&](const Local *local) { return own.contains(local); }))
        return refuse([&, stmt] { reportKept(*stmt); });
    return std::move(unit_);
  }

  /// Why the last search found nothing.
  void report() const { problem_(); }

private:
  std::optional<StageUnit> refuse(std::function<void()> problem) {
    problem_ = std::move(problem);
    return std::nullopt;
  }

  bool take(const Stmt &stmt, const std::set<const Local *> &own) {
    // Stages run on parts of their own, so they cannot change a variable of all.
    if (std::optional<Assigned> other = assignsOthers(stmt, stage_, own)) {
      refuse([this, other] { reportShared(*other); });
      return false;
    }
    bool isNested =
        stmt.kind == StmtKind::If || stmt.kind == StmtKind::While || stmt.kind == StmtKind::Block;
    if (isNested && usesQueues(stmt)) {
      refuse([this, &stmt] { ctx_.sink.report(DiagId::QueueInBranch, stmt.span, {}); });
      return false;
    }
    return isNested || takeCalls(stmt);
  }

  bool takeCalls(const Stmt &stmt) {
    std::vector<BlockExpr *> pushes;
    BlockExpr *wrong = nullptr;
    forEachExprIn(stmt, [&](const Expr *expr) {
      auto *call = const_cast<BlockExpr *>(asQueueCall(expr));
      if (call && call->op == BlockOp::Push)
        pushes.push_back(call);
      else if (call && !takePop(*call))
        wrong = call;
    });
    for (BlockExpr *push : pushes)
      if (!takePush(*push))
        wrong = push;
    if (wrong)
      refuse([this, wrong] { reportChain(*wrong); });
    return !wrong;
  }

  /// A stage pops from the pipe of its own number, up to a constant, and from each array of pipes once.
  bool takePop(BlockExpr &call) {
    bool isKnown = std::ranges::any_of(
        unit_.chains, [&](const StageChain &chain) { return chain.pop->object == call.object; });
    Dim offset = ctx_.dims.sub(pipeNumber(call), stage_);
    if (isKnown || !offset || offset.mentions(*section_.stages.var->symbol))
      return false;
    unit_.chains.push_back({&call, nullptr, offset});
    return true;
  }

  /// It pushes to the pipe with the next number, from which the next stage pops, or to the one before it.
  bool takePush(BlockExpr &call) {
    Dim one = ctx_.dims.constant(1);
    for (StageChain &chain : unit_.chains) {
      Dim from = ctx_.dims.add(chain.offset, stage_);
      bool isUp = pipeNumber(call) == ctx_.dims.add(from, one);
      bool isDown = pipeNumber(call) == ctx_.dims.sub(from, one);
      if (chain.push || chain.pop->object != call.object || (!isUp && !isDown))
        continue;
      chain.push = &call;
      chain.isDown = isDown;
      return true;
    }
    return false;
  }

  const std::string &stageName() const { return section_.stages.var->name; }

  void reportShared(const Assigned &assign) const {
    ctx_.sink.report(DiagId::SectionsShare, assign.span, {assign.local->name})
        .note("each `" + stageName() + "` is a section of its own")
        .help("a stage can assign elements of its own, as `" + assign.local->name + "[" +
              stageName() + ", ..]` of an array with one for each stage");
  }

  void reportChain(const BlockExpr &call) const {
    const std::string &pipe = call.object->name;
    ctx_.sink
        .report(DiagId::PipeEnds, call.span,
                {"`" + pipe + "`",
                 "each `" + stageName() +
                     "` pops from one pipe of an array of pipes, and then pushes to that of the "
                     "next stage, or of the one before it"})
        .help("as `pop(" + pipe + "[" + stageName() + "])` and `push(" + pipe + "[" + stageName() +
              " + 1], …)` do, and `pop(" + pipe + "[" + stageName() + " + 1])` and `push(" + pipe +
              "[" + stageName() + "], …)`");
  }

  void reportDirections(const BlockExpr &call) const {
    ctx_.sink
        .report(DiagId::PipeEnds, call.span,
                {"`" + call.object->name + "`",
                 "values come from the stage before and from the next one at the same time"})
        .help("finish one direction first, and keep what the other one needs in elements of a "
              "variable");
  }

  void reportKept(const Stmt &stmt) const {
    ctx_.sink
        .report(DiagId::SectionNotHere, stmt.span,
                {"it uses a value of an earlier step of `" + stageName() +
                 "`, and a stage keeps no values but elements of its own"})
        .help("keep it in a `var` of all stages: `kept[" + stageName() + ", ..] = …`");
  }

  Context &ctx_;
  const OnStmt &section_;
  Dim stage_;
  StageUnit unit_;
  std::function<void()> problem_;
};

} // namespace

std::vector<StageUnit> unitsOf(Context &ctx, std::span<Stmt *const> stmts, const OnStmt &section,
                               const Writes &stores) {
  // A loop that pops or pushes runs together with those of other sections.
  auto loop = std::ranges::find_if(
      stmts, [](const Stmt *stmt) { return stmt->kind == StmtKind::For && usesQueues(*stmt); });
  std::vector<size_t> ends;
  for (auto i = static_cast<size_t>(loop - stmts.begin()); i-- > 0;)
    if (i == 0 || !isRepeatable(*stmts[i], stores))
      ends.push_back(i + 1);
  UnitSearch search(ctx, section);
  std::vector<StageUnit> units;
  for (size_t end : ends)
    if (std::optional<StageUnit> unit = search.find(stmts.first(end), stmts.subspan(end)))
      units.push_back(std::move(*unit));
  // What is wrong with the longest one is what an author meant.
  if (units.empty() && !search.find(stmts.first(ends[0]), stmts.subspan(ends[0])))
    search.report();
  return units;
}

// ---- The loop -----------------------------------------------------------------------------------

/// What is pushed becomes the value of the chain.
static Stmt *passOn(Context &ctx, const StageChain &chain) {
  auto *assign = newStmt<AssignStmt>(ctx, chain.push->syntax);
  assign->target = chain.value;
  assign->value = chain.push->ins[0];
  return assign;
}

static ForStmt *loopOver(Context &ctx, const OnStmt &section, bool isDown) {
  auto *loop = newStmt<ForStmt>(ctx, section.syntax);
  loop->head = section.stages;
  loop->modifiers.label = section.stages.var->name;
  loop->body = ctx.program.make<Block>();
  loop->body->span = section.span;
  if (!isDown)
    return loop;
  // Loops count up, so the stage is counted from the end.
  Local *turn = declareLocal(ctx, LocalKind::Loop, "", section.span, section.stages.var->type);
  loop->head.var = turn;
  auto *let = newStmt<LetStmt>(ctx, section.syntax);
  let->locals = {section.stages.var};
  Dim fromEnd = ctx.dims.sub(turn->dim, rangeOf(section).lo->dim);
  let->value = dimValue(ctx, ctx.dims.sub(lastOf(ctx, section), fromEnd), section.syntax);
  loop->body->stmts = {let};
  return loop;
}

Statements stageLoop(Context &ctx, const OnStmt &section, const Statements &lets, StageUnit &unit,
                     const std::vector<Local *> &first) {
  Statements stmts;
  for (size_t i = 0; i < unit.chains.size(); ++i) {
    StageChain &chain = unit.chains[i];
    auto *var = newStmt<LetStmt>(ctx, chain.pop->syntax);
    var->isVar = true;
    var->value = refTo(ctx, first[i], chain.pop->syntax);
    chain.value = declareLocal(ctx, LocalKind::Var, "", chain.pop->span, var->value->type);
    var->locals = {chain.value};
    chain.pop->value = chain.push->value = chain.value;
    stmts.push_back(var);
  }
  ForStmt *loop = loopOver(ctx, section, unit.isDown);
  Statements &body = loop->body->stmts;
  body.insert(body.end(), lets.begin(), lets.end());
  for (Stmt *stmt : unit.stmts) {
    const auto *call = dyn_cast<ExprStmt>(stmt);
    auto chain = std::ranges::find_if(
        unit.chains, [&](const StageChain &each) { return call && each.push == call->value; });
    body.push_back(chain == unit.chains.end() ? stmt : passOn(ctx, *chain));
  }
  stmts.push_back(loop);
  return stmts;
}

} // namespace ptl
