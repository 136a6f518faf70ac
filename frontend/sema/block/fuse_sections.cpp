#include "frontend/sema/block/fuse_sections.h"

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/block/instruction_shapes.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/walk.h"
#include "ir/ops/op_table.h"

#include <deque>
#include <map>
#include <set>

namespace ptl {

namespace {

/// Whether walks over sections leave out a statement with all that is in it.
bool isLeftOut(const Stmt &stmt) {
  return stmt.kind == StmtKind::Parallel || stmt.kind == StmtKind::Task ||
         stmt.kind == StmtKind::OnSection || stmt.kind == StmtKind::Return;
}

/// Calls `visit` for each expression of a statement, and of the statements inside it.
void forEachExprIn(const Stmt &stmt, const std::function<void(const Expr *)> &visit);

void forEachExprIn(const Block &block, const std::function<void(const Expr *)> &visit) {
  for (const Stmt *stmt : block.stmts)
    forEachExprIn(*stmt, visit);
  forEachExpr(block.value, visit);
}

void forEachExprIn(const Stmt &stmt, const std::function<void(const Expr *)> &visit) {
  if (isLeftOut(stmt))
    return;
  forEachPart(
      stmt, [&](const Expr *expr) { forEachExpr(expr, visit); },
      [&](const Block *block) { forEachExprIn(*block, visit); });
}

/// Locals of a declaration in the order in which they are declared, so that errors come in one
/// order.
struct AsDeclared {
  bool operator()(const Local *a, const Local *b) const { return a->index < b->index; }
};

const BlockExpr *asQueueCall(const Expr *expr) {
  auto *call = dyn_cast<BlockExpr>(expr);
  return call && (call->op == BlockOp::Push || call->op == BlockOp::Pop) ? call : nullptr;
}

bool usesQueues(const Stmt &stmt) {
  // Values go through pipes only by `push` and `pop`.
  bool found = false;
  forEachExprIn(stmt, [&](const Expr *expr) { found |= asQueueCall(expr) != nullptr; });
  return found;
}

using Statements = std::vector<Stmt *>;

/// The sections of one block, on their way.
class Fuser {
public:
  explicit Fuser(Context &ctx) : ctx_(ctx) {}

  /// False after a report.
  bool run(std::vector<Statements> sections, Statements &out) {
    // This runs the sections as processes of a Kahn network: each goes on until it pops what nobody
    // has pushed yet.
    std::vector<size_t> next(sections.size(), 0);
    for (;;) {
      bool advanced = false, done = true;
      for (size_t i = 0; i < sections.size(); ++i) {
        for (; next[i] < sections[i].size(); ++next[i], advanced = true) {
          Stmt *stmt = sections[i][next[i]];
          Step step = take(*stmt);
          // A statement that waits is tried again when the others have gone on.
          if (step == Step::Failed)
            return false;
          if (step == Step::Waits)
            break;
          out.push_back(stmt);
        }
        done &= next[i] == sections[i].size();
      }
      if (done)
        return true;
      // If nobody can go on, all of them may stand at loops that run together.
      if (!advanced && !fuseLoops(sections, next, out))
        return false;
    }
  }

  /// Reports what was pushed and not popped.
  bool finish() {
    for (auto &[pipe, pushed] : pending_)
      if (!pushed.empty()) {
        ctx_.sink
            .report(DiagId::SectionsUnmatched, pushed.front().span,
                    {pipe->name, "pushed here, but never popped"})
            .label(pipe->span, "declared here");
        return false;
      }
    return true;
  }

private:
  enum class Step { Done, Waits, Failed };
  struct Pushed {
    Local *value;
    Span span;
  };

  /// A statement that can be next: all that it pops has been pushed.
  Step take(Stmt &stmt) {
    if (!usesQueues(stmt))
      return Step::Done;
    // A loop with queues waits for the loops of the other sections.
    if (stmt.kind == StmtKind::For)
      return Step::Waits;
    // A branch around a push or a pop would make the numbers depend on data.
    if (stmt.kind == StmtKind::If || stmt.kind == StmtKind::While || stmt.kind == StmtKind::Block) {
      ctx_.sink.report(DiagId::QueueInBranch, stmt.span, {});
      return Step::Failed;
    }
    std::vector<BlockExpr *> pops, pushes;
    forEachExprIn(stmt, [&](const Expr *expr) {
      if (const BlockExpr *call = asQueueCall(expr))
        (call->op == BlockOp::Pop ? pops : pushes).push_back(const_cast<BlockExpr *>(call));
    });
    // A statement may pop several times from one pipe, and needs as many pushed values.
    std::map<const Local *, size_t> wanted;
    for (const BlockExpr *pop : pops)
      if (++wanted[pop->object] > pending_[pop->object].size())
        return Step::Waits;
    for (BlockExpr *pop : pops) {
      std::deque<Pushed> &pushed = pending_[pop->object];
      if (!matches(*pop, pushed.front()))
        return Step::Failed;
      // The pop becomes the value that was pushed, so the pipe disappears.
      pop->value = pushed.front().value;
      pushed.pop_front();
    }
    for (BlockExpr *push : pushes)
      if (!enqueue(*push))
        return Step::Failed;
    return Step::Done;
  }

  bool enqueue(BlockExpr &push) {
    if (push.ins.empty() || isMissing(push.ins[0]))
      return false;
    const Type *type = push.ins[0]->type, *slot = push.object->type;
    bool fits =
        // A pipe carries tiles of two axes with the element type of its slots.
        type->isArray() && !type->prefix && type->elem == slot->elem && type->extents.size() == 2;
    for (size_t axis = 0; fits && axis < 2; ++axis) {
      const Extent &extent = type->extents[axis];
      // The largest tile has to fit into a slot.
      Dim largest = extent.capacity ? extent.capacity : extent.length;
      fits = ctx_.facts.proveLessEqual(largest, slot->extents[axis].length).isTrue();
    }
    if (!fits) {
      ctx_.sink
          .report(DiagId::OperandShape, push.ins[0]->span,
                  {"push", toString(ctx_, type), "at most " + toString(ctx_, slot), "it"})
          .label(push.object->span, "declared here");
      return false;
    }
    // The pushed value gets a name, which the pop refers to.
    push.value = declareLocal(ctx_, LocalKind::Let, "", push.span, type);
    pending_[push.object].push_back({push.value, push.span});
    return true;
  }

  bool matches(const BlockExpr &pop, const Pushed &pushed) {
    const Type *wanted = pop.type, *given = pushed.value->type;
    bool fits = wanted->isArray() && wanted->elem == given->elem &&
                wanted->extents.size() == given->extents.size();
    size_t axis = 0;
    for (; fits && axis < given->extents.size(); ++axis)
      // What is popped has the extents that were pushed, as far as facts tell.
      fits = extentsEqual(ctx_, given->extents[axis], wanted->extents[axis]) == Proof::True;
    if (fits)
      return true;
    auto report = ctx_.sink.report(DiagId::SectionsUnmatched, pop.span,
                                   {pop.object->name, "popped as `" + toString(ctx_, wanted) +
                                                          "`, but pushed as `" +
                                                          toString(ctx_, given) + "`"});
    report.label(pushed.span, "pushed here");
    // The axis that differs is the one before the counter.
    if (axis > 0 && axis <= given->extents.size())
      explainExtents(ctx_, report, given->extents[axis - 1], wanted->extents[axis - 1]);
    report.help("say what arrives: `let s: " + toString(ctx_, given) + " = pop(" +
                pop.object->name + ")`");
    return false;
  }

  // ---- loops
  // ---------------------------------------------------------------------------------------

  /// All sections wait: the loops that they stand at run together.
  bool fuseLoops(std::vector<Statements> &sections, std::vector<size_t> &next, Statements &out) {
    std::vector<ForStmt *> loops;
    std::vector<size_t> owners;
    const Stmt *waiting = nullptr;
    for (size_t i = 0; i < sections.size(); ++i) {
      // A section that has ended does not wait.
      if (next[i] == sections[i].size())
        continue;
      Stmt *stmt = sections[i][next[i]];
      if (stmt->kind == StmtKind::For) {
        loops.push_back(cast<ForStmt>(stmt));
        owners.push_back(i);
      } else {
        waiting = stmt;
      }
    }
    // One loop alone, or another statement, has nobody to run with.
    if (loops.size() < 2 || waiting)
      return reportStuck(waiting ? *waiting : *loops.front());
    // Values must not cross the begin of a loop, since each turn has its own.
    for (auto &[pipe, pushed] : pending_)
      if (!pushed.empty()) {
        ctx_.sink.report(
            DiagId::SectionsUnmatched, pushed.front().span,
            {pipe->name,
             "pushed before a loop and popped in it or after it; what a turn pops, it pushes"});
        return false;
      }
    // Loops run together only if they have the same turns.
    for (size_t i = 1; i < loops.size(); ++i)
      if (!sameTurns(*loops[0], *loops[i]))
        return false;
    auto *fused = ctx_.program.make<ForStmt>(*loops[0]);
    fused->body = ctx_.program.make<Block>();
    fused->body->span = loops[0]->body->span;
    std::vector<Statements> bodies;
    // The first loop's variable is that of all.
    for (ForStmt *loop : loops) {
      if (loop != loops[0])
        alias(*loops[0], *loop, fused->body->stmts);
      bodies.push_back(loop->body->stmts);
    }
    // The bodies are fused like the sections, and must leave no value behind.
    if (!run(bodies, fused->body->stmts) || !finish())
      return false;
    out.push_back(fused);
    for (size_t owner : owners)
      ++next[owner];
    return true;
  }

  bool reportStuck(const Stmt &stmt) {
    const BlockExpr *call = nullptr;
    forEachExprIn(stmt, [&](const Expr *expr) {
      const BlockExpr *found = asQueueCall(expr);
      // A pop is what waits, so it is told before a push.
      if (found && (!call || (found->op == BlockOp::Pop && call->op == BlockOp::Push)))
        call = found;
    });
    ctx_.sink
        .report(DiagId::SectionsDeadlock, call->span,
                {call->object->name, call->op == BlockOp::Pop ? "pop" : "push"})
        .label(call->object->span, "declared here");
    return false;
  }

  bool sameTurns(const ForStmt &a, const ForStmt &b) {
    auto equal = [&](const Expr *x, const Expr *y, int64_t otherwise) {
      Dim p = x ? x->dim : ctx_.dims.constant(otherwise),
          q = y ? y->dim : ctx_.dims.constant(otherwise);
      return p && q && ctx_.facts.proveEqual(p, q).isTrue();
    };
    const Expr *x = a.head.iterable, *y = b.head.iterable;
    bool same = x->kind == y->kind && a.isStatic == b.isStatic;
    if (same && x->kind == ExprKind::Tiles) {
      auto *s = cast<TilesExpr>(x), *t = cast<TilesExpr>(y);
      same = equal(s->lo, t->lo, 0) && equal(s->hi, t->hi, 0) && equal(s->size, t->size, 0);
    } else if (same && x->kind == ExprKind::Range) {
      auto *s = cast<RangeExpr>(x), *t = cast<RangeExpr>(y);
      same = equal(s->lo, t->lo, 0) && equal(s->hi, t->hi, 0) && equal(s->step, t->step, 1);
    } else {
      same = false;
    }
    if (!same)
      ctx_.sink
          // The loops must agree in their bounds, not only in the number of turns.
          .report(DiagId::TripCountsDiffer, y->span,
                  {std::string(ctx_.text(x->span)), std::string(ctx_.text(y->span))})
          .label(x->span, "the loop at the other end of the pipe");
    return same;
  }

  /// The variable of a loop that runs with another one is that one's.
  void alias(const ForStmt &loop, const ForStmt &other, Statements &out) {
    auto *let = newStmt<LetStmt>(ctx_, other.syntax);
    let->span = other.span;
    let->locals = {other.head.var};
    auto *value = newExpr<LocalRefExpr>(ctx_, other.syntax, loop.head.var->type);
    value->local = loop.head.var;
    value->dim = loop.head.var->dim;
    let->value = value;
    out.push_back(let);
    // Facts tell that both variables are one value.
    if (loop.head.var->dim && other.head.var->dim)
      ctx_.facts.addEqual(loop.head.var->dim, other.head.var->dim, other.span);
    const RangeInfo *a = loop.head.range, *b = other.head.range;
    if (!a || !b)
      return;
    for (auto [x, y] : {std::pair(a->start, b->start), std::pair(a->length, b->length),
                        std::pair(a->count, b->count)})
      if (x && y)
        ctx_.facts.addEqual(x, y, other.span);
  }

  Context &ctx_;
  std::map<const Local *, std::deque<Pushed>, AsDeclared> pending_;
};

// ---- What sections share ------------------------------------------------------------------------

/// What a section touches outside of itself.
struct Touched {
  std::map<const Local *, Span, AsDeclared> reads, writes;
};

void collectWrites(const Block &block, Touched &touched) {
  for (const Stmt *stmt : block.stmts) {
    if (isLeftOut(*stmt))
      continue;
    // An assignment is the only way to change a local.
    if (const auto *assign = dyn_cast<AssignStmt>(stmt))
      touched.writes.try_emplace(assign->target, assign->span);
    forEachPart(
        *stmt, [](const Expr *) {}, [&](const Block *inner) { collectWrites(*inner, touched); });
  }
}

Touched touchedBy(const OnStmt &section) {
  Touched touched;
  collectWrites(*section.body, touched);
  forEachExprIn(*section.body, [&](const Expr *expr) {
    if (expr->kind == ExprKind::LocalRef)
      touched.reads.try_emplace(cast<LocalRefExpr>(expr)->local, expr->span);
  });
  return touched;
}

/// Sections share what does not change.
bool shareNothing(Context &ctx, const std::vector<OnStmt *> &sections) {
  std::vector<Touched> all;
  for (const OnStmt *section : sections)
    all.push_back(touchedBy(*section));
  for (size_t i = 0; i < all.size(); ++i)
    // Sections run at the same time, so what one writes no other may use.
    for (size_t k = 0; k < all.size(); ++k)
      for (const auto &[local, span] : all[i].writes) {
        if (i == k || (!all[k].writes.count(local) && !all[k].reads.count(local)))
          continue;
        Span other = all[k].writes.count(local) ? all[k].writes[local] : all[k].reads[local];
        ctx.sink.report(DiagId::SectionsShare, span, {local->name})
            .label(other, "another section uses it here");
        return false;
      }
  return true;
}

/// `split rows`: each row is computed by itself.
bool mixesNoRows(Context &ctx, const OnStmt &section) {
  bool fine = true;
  forEachExprIn(*section.body, [&](const Expr *expr) {
    if (!fine || expr->kind != ExprKind::Op)
      return;
    auto *call = cast<OpExpr>(expr);
    const Expr *source = call->args.empty() ? nullptr : call->args[0];
    // Operations on rows alone have no second axis to mix.
    if (!call->op || !source || !source->type->isArray() || source->type->extents.size() < 2)
      return;
    bool mixes = false;
    auto rank = static_cast<int64_t>(source->type->extents.size());
    switch (call->op->opClass) {
    case OpClass::Reduction:
    case OpClass::Scan:
    case OpClass::Sort:
      // The rows are the first of the last two axes, and a reduction over rows mixes them.
      mixes = call->reducesAll;
      for (int64_t axis : call->axes)
        mixes |= axis == -rank;
      break;
    case OpClass::Product:
    case OpClass::Shape:
    case OpClass::Gather:
    case OpClass::Scatter:
      // These may move elements from one row to another.
      mixes = true;
      break;
    default:
      break;
    }
    if (!mixes)
      return;
    ctx.sink.report(DiagId::MixesRows, call->span, {std::string(call->op->name)})
        .label(section.span, "`split rows`");
    fine = false;
  });
  return fine;
}

/// Fuses the sections of a block and of the blocks inside; false after a report.
bool fuseBlock(Context &ctx, Block *block) {
  if (!block)
    return true;
  std::vector<OnStmt *> sections;
  Statements rest, after;
  // Statements before the first section come before all of them, others after.
  for (Stmt *stmt : block->stmts) {
    if (stmt->kind == StmtKind::OnSection) {
      sections.push_back(cast<OnStmt>(stmt));
      continue;
    }
    if (stmt->kind == StmtKind::BlockDecl)
      continue; // pipes are what the values are called that go through them
    Block *inner = stmt->kind == StmtKind::For        ? cast<ForStmt>(stmt)->body
                   : stmt->kind == StmtKind::Parallel ? cast<ParallelStmt>(stmt)->body
                   : stmt->kind == StmtKind::Block    ? cast<BlockStmt>(stmt)->block
                                                      : nullptr;
    if (!fuseBlock(ctx, inner))
      return false;
    (sections.empty() ? rest : after).push_back(stmt);
  }
  // Without sections, queues have nobody at their other end.
  if (sections.empty()) {
    for (const Stmt *stmt : rest)
      if (usesQueues(*stmt) && stmt->kind != StmtKind::For && stmt->kind != StmtKind::Parallel &&
          stmt->kind != StmtKind::Block) {
        ctx.sink.report(DiagId::CoreNotSaid, stmt->span, {"push", "aic"})
            .help("pipes connect sections: `on aic { … }`, `on aiv { … }`");
        return false;
      }
    block->stmts = rest;
    return true;
  }
  if (!shareNothing(ctx, sections))
    return false;
  std::vector<Statements> lists;
  for (OnStmt *section : sections) {
    if (section->splitRows && !mixesNoRows(ctx, *section))
      return false;
    lists.push_back(section->body->stmts);
  }
  Fuser fuser(ctx);
  if (!fuser.run(lists, rest) || !fuser.finish())
    return false;
  rest.insert(rest.end(), after.begin(), after.end());
  block->stmts = rest;
  return true;
}

} // namespace

void fuseSections(Context &ctx) {
  FactSet facts = ctx.facts;
  // Names that only the sections used must not be reported as unused.
  bool wasQuiet = std::exchange(ctx.suppressUnused, true);
  if (fuseBlock(ctx, ctx.decl->body))
    // The body is tile code from here on.
    ctx.decl->isBlockLevel = false;
  ctx.suppressUnused = wasQuiet;
  ctx.facts = facts;
}

} // namespace ptl
