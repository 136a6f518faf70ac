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
#include <utility>

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
  void jump(std::vector<Way> Jumps::*ways);

  FlowContext &flow_;
};

void FlowWalk::visitLet(const LetStmt &stmt) {
  if (stmt.value) {
    readExpr(flow_, stmt.value);
    if (!stmt.isVar && stmt.locals.size() == 1) {
      flow_.data.values.lets[stmt.locals[0]] = stmt.value;
      if (stmt.value->type->isArray() && isKnownUnique(stmt.value, flow_.data.values))
        flow_.data.values.contents.unique.insert(stmt.locals[0]);
      if (stmt.value->type->isArray() && isKnownPermutation(stmt.value, flow_.data.values))
        flow_.data.values.contents.permutations.insert(stmt.locals[0]);
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

void FlowWalk::jump(std::vector<Way> Jumps::*ways) {
  if (!flow_.jumps.empty())
    (flow_.jumps.back().*ways).push_back({flow_.state, flow_.known()});
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
  Known before = flow.known();
  FlowState entry = flow.state;
  bool isDecided = proof != Proof::Unknown;
  flow.conditions += isDecided ? 0 : 1;
  assumeCondition(flow.ctx, condition);
  walkBlock(flow, thenBlock);
  Way thenWay{std::move(flow.state), flow.known()};
  flow.setKnown(before);
  flow.state = std::move(entry);
  assumeNot(flow.ctx, condition);
  walkBlock(flow, elseBlock);
  Way elseWay{std::move(flow.state), flow.known()};
  flow.conditions -= isDecided ? 0 : 1;
  // An arm that cannot run decides nothing.
  if (proof == Proof::True)
    elseWay.state.isReachable = false;
  else if (proof == Proof::False)
    thenWay.state.isReachable = false;
  joinWays(flow, condition, {std::move(thenWay), std::move(elseWay)}, std::move(before));
}

/// Whether a way has initialised a region, or has no such elements.
static bool hasWritten(FlowContext &flow, size_t number, const Way &way, const Region &region) {
  // What this way knows of arrays decides, too: after `assert(permutation(p))` all of `y[p]` is all
  // of `y`.
  Contents here = std::exchange(flow.data.values.contents, way.known.contents);
  Regions there{way.known.facts, flow.tracked[number].local->type, flow.data.values};
  bool result = there.containsAny(way.state.written[number], region) || there.isEmpty(region);
  flow.data.values.contents = std::move(here);
  return result;
}

/// Keeps what one way writes if all others write it too, or if it is nothing there.
static void keepWritten(FlowContext &flow, size_t number, const Way &from,
                        const std::vector<Way> &ways, std::vector<Region> &result,
                        const Expr *condition) {
  const Local *local = flow.tracked[number].local;
  for (const Region &region : from.state.written[number]) {
    bool isOnAll = std::all_of(ways.begin(), ways.end(), [&](const Way &way) {
      return &way == &from || hasWritten(flow, number, way, region);
    });
    if (isOnAll)
      flow.regions(local).add(result, region);
    else if (condition)
      flow.tracked[number].drops.push_back(
          {condition->span, "written only in one case of this condition", true});
  }
}

void joinWays(FlowContext &flow, const Expr *condition, std::vector<Way> ways, Known common) {
  std::erase_if(ways, [](const Way &way) { return !way.state.isReachable; });
  // Arrays may have been tracked since a way left.
  for (Way &way : ways)
    way.state.written.resize(flow.tracked.size());
  if (ways.size() == 1) {
    flow.setKnown(std::move(ways[0].known));
    flow.state = std::move(ways[0].state);
    return;
  }
  flow.setKnown(std::move(common));
  flow.state = {!ways.empty(), {}};
  flow.state.written.resize(flow.tracked.size());
  for (size_t i = 0; i < flow.tracked.size() && !ways.empty(); ++i) {
    bool areEqual = std::all_of(ways.begin(), ways.end(), [&](const Way &way) {
      return way.state.written[i] == ways[0].state.written[i];
    });
    if (areEqual) {
      flow.state.written[i] = ways[0].state.written[i];
      continue;
    }
    for (const Way &way : ways)
      keepWritten(flow, i, way, ways, flow.state.written[i], condition);
  }
}

} // namespace ptl
