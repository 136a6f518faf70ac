// Statements in program order.
#include "frontend/sema/analysis/flow_walker.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/elements.h"
#include "frontend/sema/analysis/flow_access.h"
#include "frontend/sema/analysis/flow_loops.h"
#include "frontend/sema/analysis/flow_report.h"
#include "frontend/sema/analysis/value_bounds.h"
#include "frontend/sema/stmt_visitor.h"

#include <algorithm>

namespace ptl {

// ---- Statements ---------------------------------------------------------------------------------

namespace {

class FlowWalk : public StmtVisitor<FlowWalk> {
public:
  explicit FlowWalk(FlowContext &flow) : flow_(flow) {}

  void visitLet(const LetStmt &stmt);
  void visitAssign(const AssignStmt &stmt);
  void visitExprStmt(const ExprStmt &stmt) { readExpr(flow_, stmt.value); }
  void visitFor(const ForStmt &stmt) { walkFor(flow_, stmt); }
  void visitParallel(const ParallelStmt &stmt) { walkParallel(flow_, stmt); }
  void visitWhile(const WhileStmt &stmt) { walkWhile(flow_, stmt); }
  void visitIf(const IfStmt &stmt) {
    readExpr(flow_, stmt.condition);
    walkArms(flow_, stmt.condition, stmt.thenBlock, stmt.elseBlock);
  }
  void visitBreak(const BreakStmt &) { jump(&Jumps::breaks); }
  void visitContinue(const ContinueStmt &) { jump(&Jumps::continues); }
  void visitReturn(const ReturnStmt &stmt);
  void visitAssert(const AssertStmt &stmt) {
    readExpr(flow_, stmt.condition);
    learnCondition(flow_, stmt.condition);
  }
  void visitTask(const TaskStmt &stmt) { walkBlock(flow_, stmt.body); }
  void visitBlock(const BlockStmt &stmt);
  void visitOnSection(const OnStmt &stmt) { walkBlock(flow_, stmt.body); }
  void visitBlockDecl(const BlockDeclStmt &) {}
  void visitError(const Stmt &) {}

private:
  void jump(std::vector<FlowState> Jumps::*ways);

  FlowContext &flow_;
};

void FlowWalk::visitLet(const LetStmt &stmt) {
  if (stmt.value) {
    readExpr(flow_, stmt.value);
    if (!stmt.isVar && stmt.locals.size() == 1) {
      flow_.data.values.lets[stmt.locals[0]] = stmt.value;
      if (stmt.value->type->isArray() && isKnownUnique(stmt.value, flow_.data.values))
        flow_.data.values.unique.insert(stmt.locals[0]);
      if (stmt.value->type->isArray() && isKnownPermutation(stmt.value, flow_.data.values))
        flow_.data.values.permutations.insert(stmt.locals[0]);
      learnElement(flow_, stmt.locals[0]->dim, stmt.value);
      assumeBounds(flow_.ctx, stmt.locals[0], stmt.value);
    }
    return;
  }
  // A `let` without a value has to be assigned before it is read.
  for (const Local *local : stmt.locals)
    flow_.track(local, false);
}

void FlowWalk::visitAssign(const AssignStmt &stmt) {
  readExpr(flow_, stmt.value);
  Elements elements;
  if (stmt.place) {
    readIndices(flow_, stmt.place);
    auto found = elementsOf(flow_.ctx.dims, stmt.place, flow_.data.values);
    if (!found)
      return;
    elements = std::move(*found);
    learnBounds(flow_, *stmt.place);
    checkScatter(flow_, stmt, elements);
  } else {
    elements = {stmt.target, -1, stmt.target->type, wholeRegion(stmt.target->type), stmt.span};
  }
  writeElements(flow_, std::move(elements), &stmt);
}

void FlowWalk::visitReturn(const ReturnStmt &stmt) {
  if (stmt.value)
    readExpr(flow_, stmt.value);
  checkOutputs(flow_, stmt.span);
  flow_.state.isReachable = false;
}

/// `let old = fetch_add(inout y[i], v)` is a block, but counts as the `atomic` that it is besides.
void FlowWalk::visitBlock(const BlockStmt &stmt) {
  if (auto fetch = flow_.ctx.fetches.find(&stmt); fetch != flow_.ctx.fetches.end())
    return visitAssign(*fetch->second);
  walkBlock(flow_, stmt.block);
}

void FlowWalk::jump(std::vector<FlowState> Jumps::*ways) {
  if (!flow_.jumps.empty())
    (flow_.jumps.back().*ways).push_back(flow_.state);
  flow_.state.isReachable = false;
}

} // namespace

void walkBlock(FlowContext &flow, const Block *block) {
  if (!block)
    return;
  for (const Stmt *next : block->stmts) {
    if (!flow.state.isReachable) {
      if (isRootModule(flow.ctx) && next->span.end > next->span.begin &&
          flow.unreachable.insert(next).second)
        flow.ctx.sink.report(DiagId::Unreachable, next->span, {});
      return;
    }
    FlowWalk(flow).visit(*next);
  }
  if (block->value && flow.state.isReachable)
    readExpr(flow, block->value);
}

// ---- if -----------------------------------------------------------------------------------------

void walkArms(FlowContext &flow, const Expr *condition, const Block *thenBlock,
              const Block *elseBlock) {
  Proof proof = conditionProof(flow.ctx, condition);
  FactSet before = flow.ctx.facts;
  FlowState entry = flow.state;
  bool isDecided = proof != Proof::Unknown;
  flow.conditions += isDecided ? 0 : 1;
  assumeCondition(flow.ctx, condition);
  walkBlock(flow, thenBlock);
  FlowState thenState = std::move(flow.state);
  FactSet thenFacts = flow.ctx.facts;
  flow.ctx.facts = before;
  flow.state = std::move(entry);
  assumeNot(flow.ctx, condition);
  walkBlock(flow, elseBlock);
  FlowState elseState = std::move(flow.state);
  FactSet elseFacts = flow.ctx.facts;
  flow.ctx.facts = before;
  flow.conditions -= isDecided ? 0 : 1;
  // An arm that cannot run decides nothing.
  if (proof == Proof::True)
    elseState.isReachable = false;
  else if (proof == Proof::False)
    thenState.isReachable = false;
  if (!thenState.isReachable && elseState.isReachable)
    flow.ctx.facts = elseFacts;
  else if (thenState.isReachable && !elseState.isReachable)
    flow.ctx.facts = thenFacts;
  flow.state =
      mergeFlow(flow, condition, std::move(thenState), thenFacts, std::move(elseState), elseFacts);
}

/// Keeps what one arm writes if the other writes it too, or if it is nothing there.
static void keepWritten(FlowContext &flow, size_t number, const std::vector<Region> &from,
                        const FlowState &other, const FactSet &otherFacts,
                        std::vector<Region> &result, const Expr *condition) {
  const Local *local = flow.tracked[number].local;
  Regions inOther{otherFacts, local->type, flow.data.values};
  for (const Region &region : from) {
    if (inOther.containsAny(other.written[number], region) || inOther.isEmpty(region))
      flow.regions(local).add(result, region);
    else if (condition)
      flow.tracked[number].drops.push_back(
          {condition->span, "written only in one case of this condition", true});
  }
}

FlowState mergeFlow(FlowContext &flow, const Expr *condition, FlowState a, const FactSet &aFacts,
                    FlowState b, const FactSet &bFacts) {
  a.written.resize(flow.tracked.size());
  b.written.resize(flow.tracked.size());
  if (!a.isReachable || !b.isReachable)
    return a.isReachable ? std::move(a) : std::move(b);
  FlowState result;
  result.written.resize(flow.tracked.size());
  for (size_t i = 0; i < flow.tracked.size(); ++i) {
    if (a.written[i] == b.written[i]) {
      result.written[i] = std::move(a.written[i]);
      continue;
    }
    keepWritten(flow, i, a.written[i], b, bFacts, result.written[i], condition);
    keepWritten(flow, i, b.written[i], a, aFacts, result.written[i], condition);
  }
  return result;
}

} // namespace ptl
