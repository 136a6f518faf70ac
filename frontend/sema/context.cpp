#include "frontend/sema/context.h"

#include <algorithm>

namespace ptl {

Context::Context(ProgramState &state, CheckedModule &module, const Tree &tree)
    : state(state), sink(state.sinkOf(tree)), program(state.program), dims(state.dims),
      module(module), tree(tree), moduleScope(*state.scopes.at(&module)), facts(state.dims),
      capacityFacts(state.dims) {
  scope.push();
}

bool Context::inParallel() const {
  return std::any_of(loops.begin(), loops.end(),
                     [](const LoopFrame &loop) { return loop.kind == LoopKind::Parallel; });
}

Span Context::span(NodeId node) const { return tree.span(node); }
std::string_view Context::text(NodeId node) const { return tree.text(node); }
std::string_view Context::text(Span span) const {
  return tree.fileText().substr(span.begin, span.end - span.begin);
}

bool isRootModule(const Context &ctx) {
  return ctx.program.modules.front().get() == &ctx.module && ctx.state.isChecked(ctx.tree);
}

} // namespace ptl
