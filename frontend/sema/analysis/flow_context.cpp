#include "frontend/sema/analysis/flow_context.h"

namespace ptl {

FlowContext::FlowContext(Context &ctx) : ctx(ctx), numbers(ctx.decl->locals.size(), -1) {}

void FlowContext::track(const Local *local, bool isOutput) {
  if (local->type->isError())
    return;
  if (local->index >= numbers.size())
    numbers.resize(local->index + 1, -1);
  int32_t &number = numbers[local->index];
  if (number < 0) {
    number = static_cast<int32_t>(tracked.size());
    Tracked added;
    added.local = local;
    added.isOutput = isOutput;
    tracked.push_back(std::move(added));
  }
  state.written.resize(tracked.size());
  state.written[number].clear();
}

Tracked *FlowContext::trackedOf(const Local *local, size_t *number) {
  if (local->index >= numbers.size() || numbers[local->index] < 0)
    return nullptr;
  *number = static_cast<size_t>(numbers[local->index]);
  state.written.resize(tracked.size());
  return &tracked[*number];
}

void FlowContext::setKnown(Known known) {
  ctx.facts = std::move(known.facts);
  data.values.contents = std::move(known.contents);
}

} // namespace ptl
