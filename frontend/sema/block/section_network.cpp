#include "frontend/sema/block/section_network.h"

#include "frontend/sema/assigned.h"
#include "frontend/sema/block/stage_chains.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace ptl {

/// `parallel c in parts(N, over: chip)`.
static bool isOverParts(const Stmt &stmt) {
  const auto *loop = dyn_cast<ForStmt>(&stmt);
  const auto *tiles = loop ? dyn_cast<TilesExpr>(loop->head.iterable) : nullptr;
  return tiles && !tiles->level.empty();
}

/// Whether walks over sections leave out a statement with all that is in it.
static bool isLeftOut(const Stmt &stmt) {
  return stmt.kind == StmtKind::Parallel || stmt.kind == StmtKind::Task ||
         stmt.kind == StmtKind::OnSection || stmt.kind == StmtKind::Return;
}

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

const Stmt *leavesRound(const Stmt &stmt) {
  if (stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Continue ||
      stmt.kind == StmtKind::Return)
    return &stmt;
  const Stmt *found = nullptr;
  bool isLoop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
  forEachPart(
      stmt, [](const Expr *) {},
      [&](const Block *block) {
        for (const Stmt *each : block->stmts)
          if (const Stmt *inner = found ? nullptr : leavesRound(*each))
            found = isLoop && inner->kind != StmtKind::Return ? nullptr : inner;
      });
  return found;
}

void collectWrites(const Block &block, Writes &writes) {
  for (const Stmt *stmt : block.stmts) {
    if (isLeftOut(*stmt))
      continue;
    forEachAssignedBy(*stmt,
                      [&](const Assigned &each) { writes.try_emplace(each.local, each.span); });
    forEachPart(
        *stmt, [](const Expr *) {}, [&](const Block *inner) { collectWrites(*inner, writes); });
  }
}

namespace {
/// What a section touches outside of itself.
struct Touched {
  Writes reads, writes;
};
} // namespace

static Touched touchedBy(const OnStmt &section) {
  Touched touched;
  collectWrites(*section.body, touched.writes);
  forEachExprIn(*section.body, [&](const Expr *expr) {
    if (expr->kind == ExprKind::LocalRef)
      touched.reads.try_emplace(cast<LocalRefExpr>(expr)->local, expr->span);
  });
  return touched;
}

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

namespace {

/// What was pushed and not popped yet.
struct Pushed {
  Local *value;
  Span span;
};

/// A pipe, or one of an array of pipes.
struct Link {
  const Local *pipe;
  Dim number;
  std::deque<Pushed> pushed = {};
};

/// The sections of one block, on their way.
class Fuser {
public:
  explicit Fuser(Context &ctx) : ctx_(ctx) {}

  /// False after a report.
  bool run(std::vector<Process> sections, Statements &out) {
    // This runs the sections as processes of a Kahn network: each goes on until it pops what nobody
    // has pushed yet.
    std::vector<size_t> next(sections.size(), 0);
    for (;;) {
      bool advanced = false, done = true;
      for (size_t i = 0; i < sections.size(); ++i) {
        for (; next[i] < sections[i].stmts.size(); ++next[i], advanced = true) {
          Stmt *stmt = sections[i].stmts[next[i]];
          const OnStmt *section = sections[i].section;
          Step step =
              section && section->stages.var ? takeStages(sections[i], next[i], out) : take(*stmt);
          // A statement that waits is tried again when the others have gone on.
          if (step == Step::Failed)
            return false;
          if (step == Step::Waits)
            break;
          // `takeStages` has appended the statements of stages by itself.
          if (!section || !section->stages.var)
            out.push_back(section ? onPart({stmt}, *section) : stmt);
        }
        done &= next[i] == sections[i].stmts.size();
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
    for (const Link &link : links_)
      if (!link.pushed.empty()) {
        ctx_.sink
            .report(DiagId::SectionsUnmatched, link.pushed.front().span,
                    {nameOf(link.pipe, link.number), "pushed here, but never popped"})
            .label(link.pipe->span, "declared here");
        return false;
      }
    return true;
  }

private:
  std::string nameOf(const Local *pipe, Dim number) const {
    return number ? pipe->name + "[" + ctx_.dims.toString(number) + "]" : pipe->name;
  }

  std::deque<Pushed> &pushed(const Local *pipe, Dim number) {
    for (Link &link : links_)
      if (link.pipe == pipe && link.number == number)
        return link.pushed;
    return links_.emplace_back(Link{pipe, number}).pushed;
  }

  /// Statements of a section of a program.
  BlockStmt *onPart(Statements stmts, const OnStmt &section) {
    auto *block = ctx_.program.make<BlockStmt>();
    block->span = stmts.front()->span;
    block->syntax = stmts.front()->syntax;
    block->section = &section;
    block->block = ctx_.program.make<Block>();
    block->block->span = block->span;
    block->block->stmts = std::move(stmts);
    return block;
  }

  enum class Step { Done, Waits, Failed };
  /// Each part of a level below would push, or one whose range is empty would not.
  Step refuseOverParts(const Stmt &stmt) {
    ctx_.sink.report(DiagId::QueueInBranch, stmt.span, {});
    return Step::Failed;
  }
  /// A statement that can be next: all that it pops has been pushed.
  Step take(Stmt &stmt) {
    if (!usesQueues(stmt))
      return Step::Done;
    if (isOverParts(stmt))
      return refuseOverParts(stmt);
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
    std::map<std::deque<Pushed> *, size_t> wanted;
    for (const BlockExpr *pop : pops)
      pushed(pop->object, pipeNumber(*pop));
    for (const BlockExpr *pop : pops)
      if (auto &from = pushed(pop->object, pipeNumber(*pop)); ++wanted[&from] > from.size())
        return Step::Waits;
    for (BlockExpr *pop : pops) {
      std::deque<Pushed> &from = pushed(pop->object, pipeNumber(*pop));
      if (!matches(*pop, from.front()))
        return Step::Failed;
      // The pop becomes the value that was pushed, so the pipe disappears.
      pop->value = from.front().value;
      from.pop_front();
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
    // What is pushed in a program has been converted to what its pipe carries.
    bool isChecked = push.object->object->carried != nullptr;
    bool fits =
        isChecked ||
        // A pipe carries tiles of two axes with the element type of its slots.
        (type->isArray() && !type->prefix && type->elem == slot->elem && type->extents.size() == 2);
    for (size_t axis = 0; fits && !isChecked && axis < 2; ++axis) {
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
    pushed(push.object, pipeNumber(push)).push_back({push.value, push.span});
    return true;
  }

  bool matches(const BlockExpr &pop, const Pushed &pushed) {
    const Type *wanted = pop.type, *given = pushed.value->type;
    if (pop.object->object->carried)
      return true;
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
    report.help("state the type of what arrives: `let s: " + toString(ctx_, given) + " = pop(" +
                pop.object->name + ")`");
    return false;
  }

  // ---- loops ------------------------------------------------------------------------------------

  /// The pipes that a loop pushes to or pops from.
  static std::set<const Local *> pipesOf(const ForStmt &loop) {
    std::set<const Local *> pipes;
    forEachExprIn(loop, [&](const Expr *expr) {
      if (const BlockExpr *call = asQueueCall(expr))
        pipes.insert(call->object);
    });
    return pipes;
  }

  /// Of the sections that stand at loops those whose loops are connected by pipes, in order: the first such group of
  /// several. Others wait for it.
  static std::vector<size_t> connected(const std::vector<ForStmt *> &loops) {
    std::vector<std::set<const Local *>> pipes;
    for (const ForStmt *loop : loops)
      pipes.push_back(loop ? pipesOf(*loop) : std::set<const Local *>());
    for (size_t first = 0; first < loops.size(); ++first) {
      std::set<size_t> group = {first};
      std::set<const Local *> reached = pipes[first];
      for (bool grows = true; std::exchange(grows, false);)
        for (size_t i = 0; i < loops.size(); ++i)
          if (std::ranges::any_of(pipes[i], [&](auto *pipe) { return reached.contains(pipe); }) &&
              group.insert(i).second) {
            reached.insert(pipes[i].begin(), pipes[i].end());
            grows = true;
          }
      if (group.size() > 1)
        return {group.begin(), group.end()};
    }
    return {};
  }

  /// All sections wait: loops that they stand at run together.
  bool fuseLoops(const std::vector<Process> &sections, std::vector<size_t> &next, Statements &out) {
    std::vector<ForStmt *> loops(sections.size());
    const Stmt *waiting = nullptr;
    for (size_t i = 0; i < sections.size(); ++i) {
      // A section that has ended does not wait.
      if (next[i] == sections[i].stmts.size())
        continue;
      Stmt *stmt = sections[i].stmts[next[i]];
      loops[i] = dyn_cast<ForStmt>(stmt);
      // What waits outside of loops is told before a loop that does.
      if (!waiting || (waiting->kind == StmtKind::For && !loops[i]))
        waiting = stmt;
    }
    std::vector<size_t> owners = connected(loops);
    // One loop alone, or another statement, has nobody to run with.
    if (owners.empty())
      return reportStuck(*waiting);
    // Values must not cross the begin of a loop, since each turn has its own.
    for (const Link &link : links_)
      if (!link.pushed.empty() && std::ranges::any_of(owners, [&](size_t owner) {
            return pipesOf(*loops[owner]).contains(link.pipe);
          })) {
        ctx_.sink.report(DiagId::SectionsUnmatched, link.pushed.front().span,
                         {nameOf(link.pipe, link.number),
                          "pushed before a loop and popped in it or after it; "
                          "each iteration must push what it pops"});
        return false;
      }
    ForStmt *first = loops[owners[0]];
    // Loops run together only if they have the same turns.
    for (size_t owner : owners)
      if (owner != owners[0] && !sameTurns(*first, *loops[owner]))
        return false;
    auto *fused = ctx_.program.make<ForStmt>(*first);
    fused->body = ctx_.program.make<Block>();
    fused->body->span = first->body->span;
    std::vector<Process> bodies;
    // The first loop's variable is that of all.
    for (size_t owner : owners) {
      if (loops[owner] != first)
        alias(*first, *loops[owner], fused->body->stmts);
      if (!allTurns(*loops[owner]))
        return false;
      bodies.push_back({loops[owner]->body->stmts, sections[owner].section});
    }
    // The bodies are fused like the sections, and must leave no value behind.
    Fuser inside(ctx_);
    inside.lets_ = lets_;
    if (!inside.run(bodies, fused->body->stmts) || !inside.finish())
      return false;
    out.push_back(fused);
    for (size_t owner : owners)
      ++next[owner];
    return true;
  }

  /// A loop that was left would leave the others, too, and a number of pushes that data decide.
  bool allTurns(const ForStmt &loop) {
    for (const Stmt *stmt : loop.body->stmts)
      if (const Stmt *leaves = leavesRound(*stmt)) {
        ctx_.sink.report(DiagId::QueueInBranch, leaves->span, {})
            .label(loop.span, "this loop pushes or pops");
        return false;
      }
    if (!loop.checkpoint)
      return true;
    ctx_.sink.report(DiagId::CheckpointNotHere, loop.checkpoint->span,
                     {"it is in a section, but a checkpoint holds what all parts carry"});
    return false;
  }

  bool reportStuck(const Stmt &stmt) {
    const BlockExpr *call = nullptr;
    forEachExprIn(stmt, [&](const Expr *expr) {
      const BlockExpr *found = asQueueCall(expr);
      // A section gets stuck at a pop, since a push never waits here; so the report names the pop.
      if (found && (!call || (found->op == BlockOp::Pop && call->op == BlockOp::Push)))
        call = found;
    });
    ctx_.sink
        .report(
            DiagId::SectionsDeadlock, call->span,
            {nameOf(call->object, pipeNumber(*call)), call->op == BlockOp::Pop ? "pop" : "push"})
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

  // ---- sections for many parts ------------------------------------------------------------------

  /// The statements of stages from the first that cannot be computed again are one step, all stages in their order; a
  /// value goes through each chain.
  Step takeStages(const Process &process, size_t &at, Statements &out) {
    const OnStmt &section = *process.section;
    Stmt &stmt = *process.stmts[at];
    Writes stores = storesOf(section);
    if (stmt.kind == StmtKind::For && usesQueues(stmt))
      return isOverParts(stmt) ? refuseOverParts(stmt) : Step::Waits;
    // Steps compute again what they use of it, so that it needs no place of its own for each stage.
    if (isRepeatable(stmt, stores)) {
      lets_[&section].push_back(&stmt);
      return Step::Done;
    }
    std::vector<StageUnit> units =
        unitsOf(ctx_, std::span(process.stmts).subspan(at), section, stores);
    if (units.empty())
      return Step::Failed;
    for (StageUnit &unit : units) {
      bool isReady = std::ranges::none_of(unit.chains, [&](const StageChain &chain) {
        return pushed(chain.pop->object, entryOf(ctx_, chain, section)).empty();
      });
      if (!isReady)
        continue;
      at += unit.stmts.size() - 1;
      out.push_back(onPart(stagesOf(section, unit), section));
      return Step::Done;
    }
    return Step::Waits;
  }

  Statements stagesOf(const OnStmt &section, StageUnit &unit) {
    std::vector<Local *> first;
    for (const StageChain &chain : unit.chains) {
      std::deque<Pushed> &from = pushed(chain.pop->object, entryOf(ctx_, chain, section));
      first.push_back(from.front().value);
      from.pop_front();
    }
    Statements stmts = stageLoop(ctx_, section, lets_[&section], unit, first);
    for (const StageChain &chain : unit.chains)
      pushed(chain.pop->object, exitOf(ctx_, chain, section))
          .push_back({chain.value, chain.push->span});
    return stmts;
  }

  Context &ctx_;
  std::deque<Link> links_;                    ///< in the order in which they are met
  std::map<const OnStmt *, Statements> lets_; ///< of stages
};

} // namespace

bool runNetwork(Context &ctx, std::vector<Process> processes, Statements &out) {
  Fuser fuser(ctx);
  return fuser.run(std::move(processes), out) && fuser.finish();
}

} // namespace ptl
