#include "frontend/sema/analysis/flow.h"

#include "frontend/sema/analysis/flow_walker.h"

namespace ptl {

void analyseFlow(Context &ctx, const FactSet &entry) {
  const CallableDecl &decl = *ctx.decl;
  // Instructions of manual kernels are no statements of the tree: their order is checked at the
  // block level.
  if (!decl.body || decl.hasErrors || decl.kind == DeclKind::ManualKernel)
    return;
  FactSet before = ctx.facts;
  ctx.facts = entry;
  FlowWalker(ctx).run();
  ctx.facts = before;
}

} // namespace ptl
