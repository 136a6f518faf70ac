#include "frontend/sema/statements/check_loop.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/limits.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/statements/check_checkpoint.h"
#include "frontend/sema/statements/check_loop_head.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

static int64_t checkPipeline(Context &ctx, NodeId node, LoopModifiers &modifiers) {
  Expr *depth = checkIntScalar(ctx, node, "the depth of a pipeline");
  if (isMissing(depth))
    return 1;
  if (auto value = depth->dim.constant()) {
    if (*value < 1)
      ctx.sink.report(DiagId::CountNotPositive, depth->span,
                      {"the depth of a pipeline", std::to_string(*value)});
    else
      requireAtMost(ctx, depth->span, "the depth of a pipeline", *value, kMostPipelineDepth);
    return std::clamp<int64_t>(*value, 1, kMostPipelineDepth);
  }
  // A depth may depend on tunables, whose values are known only when compiling for a target.
  if (!isStaticValue(ctx, depth))
    ctx.sink.report(DiagId::StaticNotKnown, depth->span, {"the depth of a pipeline"});
  // A depth of 0 says that the expression gives it later.
  modifiers.pipelineExpr = depth;
  return 0;
}

static LoopModifiers checkModifiers(Context &ctx, const LoopView &view, const Local *var) {
  LoopModifiers modifiers;
  if (view.pipeline() != kNoNode)
    modifiers.pipeline = checkPipeline(ctx, view.pipeline(), modifiers);
  if (view.unroll() != kNoNode) {
    modifiers.unroll = true;
    modifiers.unrollSpan = ctx.span(view.unroll());
    NodeId count = UnrollView(ctx.tree, view.unroll()).count();
    if (count != kNoNode) {
      auto value = requireConstInt(ctx, count, "the number of an `unroll`");
      if (value && *value < 1)
        ctx.sink.report(DiagId::CountNotPositive, ctx.span(count),
                        {"the number of an `unroll`", std::to_string(*value)});
      if (value)
        requireAtMost(ctx, ctx.span(count), "the number of an `unroll`", *value, kMostUnroll);
      // Without a value the mistake is reported already, and a factor of 1 is harmless.
      modifiers.unrollFactor = std::clamp<int64_t>(value.value_or(1), 1, kMostUnroll);
    }
  }
  NodeId label = view.label();
  // A loop without an explicit label goes by the name of its variable.
  modifiers.label = label != kNoNode ? std::string(ctx.text(label)) : var ? var->name : "";
  declareLabel(ctx, modifiers.label, LabelKind::Loop,
               label != kNoNode ? ctx.span(label)
               : var            ? var->span
                                : kNoSpan);
  return modifiers;
}

/// What a loop says of how it runs takes effect where it runs, or is refused here.
static void refuseModifiers(Context &ctx, const LoopView &view, const ForStmt &stmt,
                            const LoopFrame &loop) {
  std::string why;
  // A static loop and one over a list are written out, so there are no iterations at run time.
  if (stmt.isStatic || stmt.head.iterable->kind == ExprKind::List)
    why = "the compiler unrolls this loop";
  else if (ctx.isKind(DeclKind::ManualKernel))
    why = "a manual kernel itself defines how its iterations overlap";
  else if ((ctx.inProgram() || ctx.inTest()) && !ctx.inParallel())
    why = "the loop is not part of a kernel: it submits tasks";
  auto refuse = [&](NodeId modifier, const char *word, bool isLeft) {
    if (modifier != kNoNode && (isLeft || !why.empty()))
      ctx.sink.report(DiagId::ScheduleCannot, ctx.span(modifier),
                      {word + std::string(ctx.text(modifier)),
                       why.empty() ? "the loop may be left early" : why});
  };
  refuse(view.pipeline(), "pipeline ", loop.returns); // jumps say so themselves
  refuse(view.unroll(), "", loop.jumps || loop.returns);
}

static void pushLoop(Context &ctx, LoopKind kind, bool pipelined, NodeId node) {
  Span span = ctx.tree.mainSpan(node);
  ctx.loops.push_back({kind, pipelined, span, ctx.decl ? ctx.decl->locals.size() : 0});
  // A body begins that runs again, so variables may have other values from here on.
  ctx.hoistedValues.change();
}

static void requireStaticDomain(Context &ctx, const LoopDomain &domain) {
  const Expr *iterable = domain.iterable;
  bool known = !domain.element || iterable->kind == ExprKind::List ||
               (domain.lo && domain.hi && isStaticDim(ctx, domain.lo) &&
                isStaticDim(ctx, domain.hi) && (!domain.size || isStaticDim(ctx, domain.size)));
  if (!known)
    ctx.sink.report(DiagId::StaticNotKnown, iterable->span, {"the domain of a `static for`"})
        .note("only constants, tunables and `static` dimensions are known at compile time")
        .help("declare its dimension as `static`, as in `fn f[static N](x: f32[N])`, or write the "
              "loop without `static`");
}

/// Checks what a `for` goes through, and declares its variable.
static LoopHead checkForHead(Context &ctx, NodeId node, const LoopView &view, bool isStatic) {
  auto bindings = LoopBindingsView(ctx.tree, view.bindings()).bindings();
  if (bindings.size() > 1)
    ctx.sink.report(DiagId::OneLoopVariable, ctx.span(bindings[1]), {});
  if (bindings.empty() || !ctx.tree.is(bindings[0], NodeKind::LoopBinding)) {
    LoopHead head;
    head.iterable = errorExpr(ctx, node);
    head.var = declareLocal(ctx, LocalKind::Loop, "", ctx.span(node), errorType(ctx));
    return head;
  }
  LoopBindingView binding(ctx.tree, bindings[0]);
  LoopDomain domain = checkDomain(ctx, binding.domain());
  if (isStatic)
    requireStaticDomain(ctx, domain);
  return bindLoop(ctx, domain, binding.pattern());
}

/// Checks the body of a `for`, whose locals begin with number `firstLocal`.
static void checkForBody(Context &ctx, NodeId node, const LoopView &view, size_t firstLocal,
                         ForStmt &stmt) {
  bool wasStatic = ctx.inStatic;
  ctx.inStatic = ctx.inStatic || stmt.isStatic;
  pushLoop(ctx, stmt.isStatic ? LoopKind::StaticFor : LoopKind::For, view.pipeline() != kNoNode,
           node);
  ctx.loops.back().firstLocal = firstLocal;
  stmt.body = checkBlock(ctx, view.body(), false);
  // Whether the loop is left early is known only after its body was checked.
  refuseModifiers(ctx, view, stmt, ctx.loops.back());
  ctx.loops.pop_back();
  ctx.inStatic = wasStatic;
}

Stmt *checkFor(Context &ctx, NodeId node) {
  LoopView view(ctx.tree, node);
  auto *stmt = newStmt<ForStmt>(ctx, node);
  stmt->isStatic = ctx.tree.has(node, NodeFlag::Static);
  ScopeGuard scope(ctx);
  // Facts about the variable end with the loop.
  FactSet before = ctx.facts;
  // Locals from here on are the loop's own.
  size_t firstLocal = ctx.decl ? ctx.decl->locals.size() : 0;
  size_t statics = ctx.staticSymbols.size();
  stmt->head = checkForHead(ctx, node, view, stmt->isStatic);
  // Inside, the variable of a static loop counts as static: it is a constant in each copy of the
  // body.
  if (stmt->isStatic && stmt->head.var->symbol)
    ctx.staticSymbols.push_back(*stmt->head.var->symbol);
  stmt->modifiers = checkModifiers(ctx, view, stmt->head.var);
  if (view.checkpoint() != kNoNode)
    stmt->checkpoint = checkCheckpoint(ctx, view.checkpoint(), *stmt);
  checkForBody(ctx, node, view, firstLocal, *stmt);
  ctx.staticSymbols.resize(statics);
  ctx.facts = before;
  return stmt;
}

/// Where a `parallel` may stand: directly in a kernel, in a `task` of a program, or in another one.
static void checkParallelPlace(Context &ctx, NodeId node) {
  Span span = ctx.tree.mainSpan(node);
  if (ctx.inParallel()) {
    // Sections and manual kernels deal the points of one grid to core groups, so there is no second
    // level.
    if (ctx.isKind(DeclKind::ManualKernel) || ctx.inSection)
      ctx.sink.report(DiagId::NestedParallel, span, {})
          .note(std::string(ctx.inSection ? "a section of one core" : "a manual kernel") +
                " can have only one `parallel`, whose iterations are distributed over the core "
                "groups")
          .help(
              "put all variables into one `parallel`: `parallel i in …, j in … { }`, or use `for`");
    return;
  }
  bool inLoop = !ctx.loops.empty();
  bool legal = (ctx.inKernel() && !inLoop) || ctx.inTask;
  bool loopReported =
      inLoop && ctx.isKind(DeclKind::Kernel); // a loop at the top of a kernel is an error
  if (!legal && !loopReported)
    ctx.sink
        .report(DiagId::StatementNotHere, span,
                {"`parallel`", inLoop && ctx.inKernel() ? "a loop of a kernel" : declKindText(ctx)})
        .help(ctx.inFn() ? "use `for`: a `fn` runs inside of a kernel's iteration"
              : ctx.inProgram() && isPlaced(ctx.tree, ctx.decl->syntax)
                  ? "a program on parts needs none: each part does its blocks of "
                    "`y = x * 2.0`; a kernel has `parallel`"
                  : "`parallel` belongs at the top of a kernel");
}

/// A `parallel` whose body is another one is one with all their variables: each point of both is a
/// point of the grid.
static void mergeInner(ParallelStmt *stmt) {
  // A body with other statements cannot be merged: these would run once for each point of both.
  if (stmt->body->stmts.size() != 1 || stmt->body->value ||
      stmt->body->stmts[0]->kind != StmtKind::Parallel)
    return;
  auto *inner = cast<ParallelStmt>(stmt->body->stmts[0]);
  stmt->heads.insert(stmt->heads.end(), inner->heads.begin(), inner->heads.end());
  stmt->body = inner->body;
}

/// A grid of one point that runs all of them, one after the other.
static ParallelStmt *inOrder(Context &ctx, ParallelStmt *stmt) {
  NodeId node = stmt->syntax;
  // A grid must stay, because statements outside of a `parallel` do not run on a core.
  auto *grid = newStmt<ParallelStmt>(ctx, node);
  RangeInfo info;
  info.start = ctx.dims.constant(0);
  info.length = info.step = info.capacity = ctx.dims.constant(1);
  auto *once = newExpr<RangeExpr>(ctx, node, rangeType(ctx, ctx.program.make<RangeInfo>(info)));
  once->lo = dimValue(ctx, info.start, node);
  once->hi = dimValue(ctx, info.length, node);
  LoopHead head;
  head.iterable = once;
  head.var = declareLocal(ctx, LocalKind::Loop, "", stmt->span, intType(ctx), kNoNode);
  grid->heads = {head};
  grid->body = ctx.program.make<Block>();
  grid->body->span = stmt->span;
  grid->body->stmts = {stmt};
  // The analysis of conflicts skips both, because points that run in order cannot race.
  ctx.orderedParallels.insert(stmt);
  ctx.orderedParallels.insert(grid);
  return grid;
}

/// The points of a grid are counted, and must differ. The values of a list may repeat, and nothing
/// tells at which point the grid has which of them.
static void refuseList(Context &ctx, const LoopDomain &domain) {
  const Expr *iterable = domain.iterable;
  if (!iterable || iterable->type->kind != TypeKind::List)
    return;
  std::string list(ctx.text(iterable->span));
  ctx.sink.report(DiagId::StatementNotHere, iterable->span, {"a list", "the head of a `parallel`"})
      .note("the variables of a `parallel` run over ranges and `tiles`, whose positions differ")
      .help("go through the list in the body, with `for … in " + list + "`");
}

/// Why a `parallel` over parts cannot stand at this place; empty if it can.
static std::string whyNoParts(Context &ctx, const PartsCall &call) {
  if (!ctx.inProgram() || !isPlaced(ctx.tree, ctx.decl->syntax))
    return ctx.inProgram() ? "the header of `" + ctx.decl->name + "` places no array on parts"
                           : "only programs whose header places arrays have parts";
  if (ctx.inTask)
    return "it is in a `task`, which one part runs";
  for (size_t i = 0; i < call.levels.size(); ++i) {
    std::string_view level = ctx.text(call.levels[i]);
    bool isInside = std::ranges::any_of(ctx.loops, [&](const LoopFrame &loop) {
      return loop.kind == LoopKind::Parts && loop.level == level;
    });
    bool isTwice = std::any_of(call.levels.begin(), call.levels.begin() + static_cast<ptrdiff_t>(i),
                               [&](NodeId before) { return ctx.text(before) == level; });
    if (isInside || isTwice)
      return isInside ? "it is in another `parallel` over the parts of `" + std::string(level) +
                            "`, whose body is the program of one of them"
                      : "it names `" + std::string(level) + "` twice";
  }
  return {};
}

namespace {

/// `parallel c in parts(N, over: [host, chip]) { … }`: one loop for each level in that of the level before it.
class PartsLoop {
public:
  PartsLoop(Context &ctx, NodeId node, const LoopView &view, NodeId pattern)
      : ctx_(ctx), node_(node), view_(view), pattern_(pattern) {}

  /// The loop over the ranges of level number `at`, and those within.
  Stmt *run(const PartsCall &call, size_t at = 0, const RangeInfo *within = nullptr) {
    auto *stmt = newStmt<ForStmt>(ctx_, node_);
    ScopeGuard scope(ctx_);
    FactSet before = ctx_.facts;
    size_t firstLocal = ctx_.decl ? ctx_.decl->locals.size() : 0;
    bool isLast = at + 1 >= call.levels.size();
    LoopDomain domain;
    if (!call.levels.empty())
      domain = checkParts(ctx_, call, call.levels[at], within);
    bool isWrong = !domain.element;
    if (isWrong)
      domain.iterable = errorExpr(ctx_, call.node);
    bool isInnermost = isLast || isWrong;
    stmt->head = isInnermost ? bindLoop(ctx_, domain, pattern_)
                             : bindOuterParts(ctx_, domain, call.levels[at]);
    if (isInnermost)
      stmt->modifiers = checkModifiers(ctx_, view_, stmt->head.var);
    pushLoop(ctx_, LoopKind::Parts, false, node_);
    ctx_.loops.back().firstLocal = firstLocal;
    if (!call.levels.empty())
      ctx_.loops.back().level = ctx_.text(call.levels[at]);
    stmt->body = isInnermost ? checkBlock(ctx_, view_.body(), false)
                             : blockOf(run(call, at + 1, stmt->head.range));
    ctx_.loops.pop_back();
    ctx_.facts = before;
    return stmt;
  }

private:
  Block *blockOf(Stmt *stmt) {
    auto *block = ctx_.program.make<Block>();
    block->span = stmt->span;
    block->stmts = {stmt};
    return block;
  }

  Context &ctx_;
  NodeId node_;
  const LoopView &view_;
  NodeId pattern_;
};

} // namespace

/// `parallel c in parts(N, over: chip) { … }` goes through the blocks of all chips like a `for`: whoever knows of no parts runs it as
/// one. On parts each does its own block. Null for another `parallel`.
static Stmt *checkPartsLoop(Context &ctx, NodeId node, const LoopView &view) {
  std::vector<NodeId> bindings;
  for (NodeId each : LoopBindingsView(ctx.tree, view.bindings()).bindings())
    if (ctx.tree.is(each, NodeKind::LoopBinding))
      bindings.push_back(each);
  if (bindings.size() != 1)
    return nullptr;
  LoopBindingView binding(ctx.tree, bindings[0]);
  NodeId domainNode = skipParens(ctx, binding.domain());
  if (!isPartsCall(ctx, domainNode))
    return nullptr;
  PartsCall call = readPartsCall(ctx, domainNode);
  if (std::string why = whyNoParts(ctx, call); !why.empty() && !call.levels.empty()) {
    ctx.sink.report(DiagId::PartsNotHere, ctx.span(domainNode), {why});
    call.levels.clear();
  }
  for (NodeId modifier : {view.pipeline(), view.unroll(), view.checkpoint()})
    if (modifier != kNoNode)
      ctx.sink.report(DiagId::StatementNotHere, ctx.span(modifier), {"a modifier", "a `parallel`"});
  return PartsLoop(ctx, node, view, binding.pattern()).run(call);
}

Stmt *checkParallel(Context &ctx, NodeId node) {
  LoopView view(ctx.tree, node);
  if (Stmt *parts = checkPartsLoop(ctx, node, view))
    return parts;
  auto *stmt = newStmt<ParallelStmt>(ctx, node);
  checkParallelPlace(ctx, node);
  ScopeGuard scope(ctx);
  FactSet before = ctx.facts;
  size_t marker = ctx.decl ? ctx.decl->locals.size() : 0;
  // Bounds of later variables may use earlier ones: nothing of them can be computed before the
  // loop.
  bool couldHoist = ctx.canHoist;
  for (NodeId node : LoopBindingsView(ctx.tree, view.bindings()).bindings()) {
    if (!ctx.tree.is(node, NodeKind::LoopBinding))
      continue;
    LoopBindingView binding(ctx.tree, node);
    LoopDomain domain = checkDomain(ctx, binding.domain());
    refuseList(ctx, domain);
    // From the second variable on bounds may use the first, so nothing of them is hoisted.
    ctx.canHoist = false;
    stmt->heads.push_back(bindLoop(ctx, domain, binding.pattern()));
    if (const Local *var = stmt->heads.back().var)
      declareLabel(ctx, var->name, LabelKind::Loop, var->span, /*isParallel=*/true);
  }
  ctx.canHoist = couldHoist;
  for (NodeId modifier : {view.pipeline(), view.unroll(), view.checkpoint()})
    if (modifier != kNoNode)
      ctx.sink.report(DiagId::StatementNotHere, ctx.span(modifier), {"a modifier", "a `parallel`"});
  pushLoop(ctx, LoopKind::Parallel, false, node);
  ctx.loops.back().firstLocal = marker;
  stmt->body = checkBlock(ctx, view.body(), false);
  ctx.loops.pop_back();
  ctx.facts = before;
  mergeInner(stmt);
  // A fetch, or with `--deterministic` any atomic update, in an inner `parallel` makes the outermost one ordered, since only there all points
  // have one order.
  bool isOrdered = ctx.runsInOrder && !ctx.inParallel();
  // The flag is used up by the `parallel` that it made ordered.
  ctx.runsInOrder = ctx.runsInOrder && !isOrdered;
  return isOrdered ? inOrder(ctx, stmt) : stmt;
}

Stmt *checkWhile(Context &ctx, NodeId node) {
  WhileStmtView view(ctx.tree, node);
  auto *stmt = newStmt<WhileStmt>(ctx, node);
  bool couldHoist = ctx.canHoist;
  // The condition runs before each iteration, so no part of it can be hoisted out of the loop.
  ctx.canHoist = false;
  stmt->condition = checkCondition(ctx, view.condition());
  ctx.canHoist = couldHoist;
  FactSet before = ctx.facts;
  // The body only runs where the condition holds.
  assumeCondition(ctx, stmt->condition);
  pushLoop(ctx, LoopKind::While, false, node);
  stmt->body = checkBlock(ctx, view.body(), false);
  ctx.loops.pop_back();
  ctx.facts = before;
  return stmt;
}

} // namespace ptl
