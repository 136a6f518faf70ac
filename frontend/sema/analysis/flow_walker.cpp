// Statements in program order.
#include "frontend/sema/analysis/flow_walker.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/flow.h"
#include "frontend/sema/analysis/value_bounds.h"

#include <algorithm>

namespace ptl {

FlowWalker::FlowWalker(Context &ctx) : ctx_(ctx), numbers_(ctx.decl->locals.size(), -1) {}

void FlowWalker::track(const Local *local, bool isOutput) {
  if (local->type->isError())
    return;
  if (local->index >= numbers_.size())
    numbers_.resize(local->index + 1, -1);
  int32_t &number = numbers_[local->index];
  if (number < 0) {
    number = static_cast<int32_t>(tracked_.size());
    Tracked tracked;
    tracked.local = local;
    tracked.isOutput = isOutput;
    tracked_.push_back(std::move(tracked));
  }
  state_.written.resize(tracked_.size());
  state_.written[number].clear();
}

Tracked *FlowWalker::trackedOf(const Local *local, size_t *number) {
  if (local->index >= numbers_.size() || numbers_[local->index] < 0)
    return nullptr;
  *number = static_cast<size_t>(numbers_[local->index]);
  state_.written.resize(tracked_.size());
  return &tracked_[*number];
}

void FlowWalker::run() {
  const CallableDecl &decl = *ctx_.decl;
  for (size_t i = 0; i < decl.outputs.size(); ++i)
    if (i >= decl.outputInits.size() || !decl.outputInits[i])
      track(decl.outputs[i], true);
  for (const WhereClause &clause : decl.wheres)
    learn(clause.condition);
  block(decl.body);
  if (state_.isReachable)
    checkOutputs(std::nullopt);
  for (const auto &[local, use] : atomics_)
    reportAtomicMix(local, use);
}

void FlowWalker::block(const Block *block) {
  if (!block)
    return;
  for (const Stmt *next : block->stmts) {
    if (!state_.isReachable) {
      if (isRootModule(ctx_) && next->span.end > next->span.begin &&
          unreachable_.insert(next).second)
        ctx_.sink.report(DiagId::Unreachable, next->span, {});
      return;
    }
    stmt(next);
  }
  if (block->value && state_.isReachable)
    read(block->value);
}

void FlowWalker::stmt(const Stmt *stmt) {
  switch (stmt->kind) {
  case StmtKind::Let:
    return let(*cast<LetStmt>(stmt));
  case StmtKind::Assign:
    return assign(*cast<AssignStmt>(stmt));
  case StmtKind::ExprStmt:
    return read(cast<ExprStmt>(stmt)->value);
  case StmtKind::For:
    return loop(*cast<ForStmt>(stmt));
  case StmtKind::Parallel:
    return parallel(*cast<ParallelStmt>(stmt));
  case StmtKind::While:
    return whileLoop(*cast<WhileStmt>(stmt));
  case StmtKind::If:
    return branch(*cast<IfStmt>(stmt));
  case StmtKind::Return:
    return returns(*cast<ReturnStmt>(stmt));
  case StmtKind::Task:
    return block(cast<TaskStmt>(stmt)->body);
  case StmtKind::Block:
    if (auto fetch = ctx_.fetches.find(stmt); fetch != ctx_.fetches.end())
      return assign(*fetch->second);
    return block(cast<BlockStmt>(stmt)->block);
  case StmtKind::OnSection:
    return block(cast<OnStmt>(stmt)->body);
  case StmtKind::Break:
  case StmtKind::Continue:
    if (!jumps_.empty())
      (stmt->kind == StmtKind::Break ? jumps_.back().breaks : jumps_.back().continues)
          .push_back(state_);
    state_.isReachable = false;
    return;
  case StmtKind::Assert:
    read(cast<AssertStmt>(stmt)->condition);
    return learn(cast<AssertStmt>(stmt)->condition);
  case StmtKind::BlockDecl:
  case StmtKind::Error:
    return;
  }
}

void FlowWalker::let(const LetStmt &stmt) {
  if (stmt.value) {
    read(stmt.value);
    if (!stmt.isVar && stmt.locals.size() == 1) {
      data_.values.lets[stmt.locals[0]] = stmt.value;
      if (stmt.value->type->isArray() && isKnownUnique(stmt.value, data_.values))
        data_.values.unique.insert(stmt.locals[0]);
      if (stmt.value->type->isArray() && isKnownPermutation(stmt.value, data_.values))
        data_.values.permutations.insert(stmt.locals[0]);
      learnElement(stmt.locals[0]->dim, stmt.value);
      assumeBounds(ctx_, stmt.locals[0], stmt.value);
    }
    return;
  }
  for (const Local *local : stmt.locals)
    track(local, false);
}

void FlowWalker::assign(const AssignStmt &stmt) {
  read(stmt.value);
  Elements elements;
  if (stmt.place) {
    readIndices(stmt.place);
    auto found = elementsOf(ctx_.dims, stmt.place, data_.values);
    if (!found)
      return;
    elements = std::move(*found);
    learnBounds(*stmt.place);
    checkScatter(stmt, elements);
  } else {
    elements = {stmt.target, -1, stmt.target->type, wholeRegion(stmt.target->type), stmt.span};
  }
  writeElements(std::move(elements), &stmt);
}

void FlowWalker::returns(const ReturnStmt &stmt) {
  if (stmt.value)
    read(stmt.value);
  checkOutputs(stmt.span);
  state_.isReachable = false;
}

// ---- if -----------------------------------------------------------------------------------------

void FlowWalker::branch(const IfStmt &stmt) {
  read(stmt.condition);
  arms(stmt.condition, stmt.thenBlock, stmt.elseBlock);
}

void FlowWalker::arms(const Expr *condition, const Block *thenBlock, const Block *elseBlock) {
  Proof proof = conditionProof(ctx_, condition);
  FactSet before = ctx_.facts;
  FlowState entry = state_;
  bool isDecided = proof != Proof::Unknown;
  conditions_ += isDecided ? 0 : 1;
  assumeCondition(ctx_, condition);
  block(thenBlock);
  FlowState thenState = std::move(state_);
  FactSet thenFacts = ctx_.facts;
  ctx_.facts = before;
  state_ = std::move(entry);
  assumeNot(ctx_, condition);
  block(elseBlock);
  FlowState elseState = std::move(state_);
  FactSet elseFacts = ctx_.facts;
  ctx_.facts = before;
  conditions_ -= isDecided ? 0 : 1;
  // An arm that cannot run decides nothing.
  if (proof == Proof::True)
    elseState.isReachable = false;
  else if (proof == Proof::False)
    thenState.isReachable = false;
  if (!thenState.isReachable && elseState.isReachable)
    ctx_.facts = elseFacts;
  else if (thenState.isReachable && !elseState.isReachable)
    ctx_.facts = thenFacts;
  state_ = merge(condition, std::move(thenState), thenFacts, std::move(elseState), elseFacts);
}

FlowState FlowWalker::merge(const Expr *condition, FlowState a, const FactSet &aFacts, FlowState b,
                            const FactSet &bFacts) {
  a.written.resize(tracked_.size());
  b.written.resize(tracked_.size());
  if (!a.isReachable || !b.isReachable)
    return a.isReachable ? std::move(a) : std::move(b);
  FlowState result;
  result.written.resize(tracked_.size());
  for (size_t i = 0; i < tracked_.size(); ++i) {
    if (a.written[i] == b.written[i]) {
      result.written[i] = std::move(a.written[i]);
      continue;
    }
    keep(i, a.written[i], b, bFacts, result.written[i], condition);
    keep(i, b.written[i], a, aFacts, result.written[i], condition);
  }
  return result;
}

/// Keeps what one arm writes if the other writes it too, or if it is nothing there.
void FlowWalker::keep(size_t number, const std::vector<Region> &from, const FlowState &other,
                      const FactSet &otherFacts, std::vector<Region> &result,
                      const Expr *condition) {
  const Local *local = tracked_[number].local;
  Regions inOther{otherFacts, local->type, data_.values};
  for (const Region &region : from) {
    if (inOther.containsAny(other.written[number], region) || inOther.isEmpty(region))
      regions(local).add(result, region);
    else if (condition)
      tracked_[number].drops.push_back(
          {condition->span, "written in one case of this condition only", true});
  }
}

} // namespace ptl
