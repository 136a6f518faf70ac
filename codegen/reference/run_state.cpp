#include "codegen/reference/run_state.h"

namespace ptl::reference {

std::string RunState::textOf(Span span) const {
  return span.file == kNoFile ? std::string() : std::string(sources_.text(span));
}

void RunState::failExpectation(Span span, std::string message) {
  failed_.push_back({span, std::move(message)});
  if (options_.observer)
    options_.observer->onFailure(span, failed_.back().message, *this);
}

std::vector<ActiveCall> RunState::calls() const {
  std::vector<ActiveCall> calls;
  for (const Frame *frame = frame_; frame; frame = frame->caller)
    calls.push_back({frame->decl, frame->at.file == kNoFile ? frame->decl->nameSpan : frame->at,
                     &frame->locals, &frame->elems, &frame->prefix});
  return calls;
}

/// Tells the observer why the run stops, once: the innermost step is the first that hears of it.
void RunState::noteStop(Frame &frame, const Step &step, Stop &why) {
  frame.at = step.span;
  if (!std::exchange(why.isObserved, true))
    options_.observer->onFailure(why.span.file == kNoFile ? step.span : why.span, why.message,
                                 *this);
}

} // namespace ptl::reference
