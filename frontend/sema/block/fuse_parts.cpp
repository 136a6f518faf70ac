// Sections of programs as one sequence of statements.
#include "frontend/sema/block/fuse_parts.h"

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/block/section_network.h"
#include "frontend/syntax/typed_nodes.h"

#include <set>

namespace ptl {

namespace {

/// A push or pop, for which the numbers of its pipes are `first` to `last`; unknown for one pipe.
struct SectionEnd {
  const BlockExpr *call;
  const OnStmt *section;
  Dim first, last;
};

SectionEnd endOf(Context &ctx, const BlockExpr &call, const OnStmt &section) {
  SectionEnd end{&call, &section, pipeNumber(call), pipeNumber(call)};
  if (!section.stages.var || !end.first)
    return end;
  SymbolId stage = *section.stages.var->symbol;
  const auto &range = cast<RangeExpr>(*section.stages.iterable);
  Dim last = ctx.dims.sub(range.hi->dim, ctx.dims.constant(1));
  end.first = ctx.dims.substitute(end.first, {{stage, range.lo->dim}});
  end.last = ctx.dims.substitute(end.last, {{stage, last}});
  return end;
}

/// Whether two ends are surely those of different pipes.
bool areApart(Context &ctx, const SectionEnd &a, const SectionEnd &b) {
  if (a.call->object != b.call->object || a.call->op != b.call->op)
    return true;
  return a.first && a.last && b.first && b.last &&
         (ctx.facts.proveLess(a.last, b.first).isTrue() ||
          ctx.facts.proveLess(b.last, a.first).isTrue());
}

/// Each end of a pipe is in one section, so that the order of what goes through is that of one.
bool hasTwoEnds(Context &ctx, const std::vector<OnStmt *> &sections) {
  std::vector<SectionEnd> ends;
  for (const OnStmt *section : sections)
    forEachExprIn(*section->body, [&](const Expr *expr) {
      if (const BlockExpr *call = asQueueCall(expr))
        ends.push_back(endOf(ctx, *call, *section));
    });
  for (size_t i = 0; i < ends.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (ends[i].section != ends[k].section && !areApart(ctx, ends[i], ends[k])) {
        std::string what = ends[i].call->op == BlockOp::Push ? "pushes" : "pops";
        ctx.sink
            .report(DiagId::PipeEnds, ends[i].call->span,
                    {"`" + ends[i].call->object->name + "`",
                     "two sections contain its " + what + ", whose order is undefined"})
            .label(ends[k].call->span, "the other section");
        return false;
      }
  return true;
}

/// Whether each `push` and `pop` takes place whatever conditions hold.
bool allMatched(Context &ctx) {
  std::set<const BlockExpr *> met;
  for (const OnStmt *section : ctx.partSections.sections)
    forEachExprIn(*section->body, [&](const Expr *expr) {
      if (const BlockExpr *call = asQueueCall(expr))
        met.insert(call);
    });
  for (const BlockExpr *call : ctx.partSections.calls)
    if (!met.contains(call)) {
      ctx.sink.report(DiagId::QueueInBranch, call->span, {});
      return false;
    }
  return true;
}

/// Puts sections that stand behind each other into one order, behind `out`.
bool fuseNetwork(Context &ctx, std::vector<OnStmt *> sections, Statements &out) {
  if (!shareNothing(ctx, sections) || !hasTwoEnds(ctx, sections))
    return false;
  std::vector<Process> processes;
  for (OnStmt *section : sections) {
    for (const Stmt *stmt : section->body->stmts)
      if (const Stmt *leaves = leavesRound(*stmt)) {
        ctx.sink.report(
            DiagId::SectionNotHere, leaves->span,
            {"a jump out of it would also skip the other sections, which run on other parts"});
        return false;
      }
    processes.push_back({section->body->stmts, section});
    std::erase(ctx.partSections.sections, section);
  }
  return runNetwork(ctx, std::move(processes), out);
}

/// The sections of a block of a program, and of the loops and blocks in it.
bool fuseParts(Context &ctx, Block *block) {
  Statements stmts;
  std::vector<OnStmt *> network;
  auto end = [&] { return fuseNetwork(ctx, std::exchange(network, {}), stmts); };
  for (Stmt *stmt : block->stmts) {
    if (stmt->kind == StmtKind::BlockDecl) {
      std::erase(ctx.partSections.pipes, stmt);
      continue; // pipes are what the values are called that go through them
    }
    if (stmt->kind == StmtKind::OnSection) {
      network.push_back(cast<OnStmt>(stmt));
      continue;
    }
    Block *inner = stmt->kind == StmtKind::For     ? cast<ForStmt>(stmt)->body
                   : stmt->kind == StmtKind::Block ? cast<BlockStmt>(stmt)->block
                                                   : nullptr;
    if (!end() || (inner && !fuseParts(ctx, inner)))
      return false;
    stmts.push_back(stmt);
  }
  if (!end())
    return false;
  block->stmts = std::move(stmts);
  return true;
}

/// Whether each section says for which parts it is; the parser has reported those that do not.
bool areNumbered(const Context &ctx) {
  return std::ranges::all_of(ctx.partSections.sections, [&](const OnStmt *section) {
    NodeId part = OnStmtView(ctx.tree, section->syntax).part();
    return ctx.tree.is(part, NodeKind::IntLiteral) || ctx.tree.is(part, NodeKind::LoopBinding);
  });
}

} // namespace

void fusePartSections(Context &ctx) {
  if (ctx.partSections.sections.empty() && ctx.partSections.calls.empty())
    return;
  if (!areNumbered(ctx))
    return;
  FactSet facts = ctx.facts;
  bool wasQuiet = std::exchange(ctx.suppressUnused, true);
  bool fine = allMatched(ctx) && fuseParts(ctx, ctx.decl->body);
  if (fine && !ctx.partSections.sections.empty()) {
    ctx.sink.report(DiagId::SectionNotHere, ctx.partSections.sections.front()->span,
                    {"sections are allowed in the body of a program and in its `for` loops, which "
                     "all parts execute"});
    fine = false;
  }
  if (fine && !ctx.partSections.pipes.empty()) {
    ctx.sink.report(DiagId::SectionNotHere, ctx.partSections.pipes.front()->span,
                    {"a pipe must be declared in the same block as the sections that it connects"});
    fine = false;
  }
  ctx.suppressUnused = wasQuiet;
  ctx.facts = facts;
}

} // namespace ptl
