#include "frontend/sema/analysis/flow.h"

#include "frontend/sema/analysis/flow_access.h"
#include "frontend/sema/analysis/flow_report.h"
#include "frontend/sema/analysis/flow_walker.h"

namespace ptl {

/// Walks the body of the declaration from its `where` clauses on, and reports.
static void walkBody(FlowContext &flow) {
  const CallableDecl &decl = *flow.ctx.decl;
  for (size_t i = 0; i < decl.outputs.size(); ++i)
    // An output with an initial value is written from the start.
    if (i >= decl.outputInits.size() || !decl.outputInits[i])
      flow.track(decl.outputs[i], true);
  for (const WhereClause &clause : decl.wheres)
    learnCondition(flow, clause.condition);
  walkBlock(flow, decl.body);
  // The end must be reachable for outputs to be read behind it.
  if (flow.state.isReachable)
    checkOutputs(flow, std::nullopt);
  // Mixed atomic and plain accesses are found only when all are known.
  for (const auto &[local, use] : flow.atomics)
    reportAtomicMix(flow, local, use);
}

void analyseFlow(Context &ctx, const FactSet &entry) {
  const CallableDecl &decl = *ctx.decl;
  // Instructions of manual kernels are no statements of the tree: their order is checked at the
  // block level.
  if (!decl.body || decl.hasErrors || decl.kind == DeclKind::ManualKernel)
    return;
  FactSet before = ctx.facts;
  ctx.facts = entry;
  FlowContext flow(ctx);
  walkBody(flow);
  ctx.facts = before;
}

} // namespace ptl
