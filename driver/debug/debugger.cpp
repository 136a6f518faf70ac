#include "driver/debug/debugger.h"

#include "driver/debug/values.h"

namespace ptl::debug {

using namespace reference;

void Debugger::onStep(const Step &step, const RunView &view) {
  if (std::optional<Stopped> why = reasonToStop(step, view))
    stop(*why, view);
}

void Debugger::onFailure(Span at, const std::string &message, const RunView &view) {
  if (stopsAtFailures)
    stop({Reason::Failure, message, at}, view);
}

void Debugger::stop(const Stopped &why, const RunView &view) {
  resume_ = stopped(why, view);
  depth_ = view.calls().size();
}

std::optional<Stopped> Debugger::reasonToStop(const Step &step, const RunView &view) {
  constexpr uint32_t stepsBetweenQuestions = 256;
  bool isFirst = !std::exchange(hasBegun_, true);
  if (auto why = atBreakpoint(step, view))
    return why;
  if (isFirst && stopsAtEntry)
    return Stopped{Reason::Entry, {}, step.span};
  if (++steps_ % stepsBetweenQuestions == 0 && wantsPause())
    return Stopped{Reason::Pause, {}, step.span};
  size_t depth = resume_ == Resume::Continue || resume_ == Resume::Into ? 0 : view.calls().size();
  bool isNext = resume_ == Resume::Into || (resume_ == Resume::Over && depth <= depth_) ||
                (resume_ == Resume::Out && depth < depth_);
  return isNext ? std::optional(Stopped{Reason::Step, {}, step.span}) : std::nullopt;
}

std::optional<Stopped> Debugger::atBreakpoint(const Step &step, const RunView &view) {
  Breakpoint *here = breakpoints_.at(step.span);
  if (!here)
    return std::nullopt;
  Stopped why{Reason::Breakpoint, {}, step.span};
  if (!here->condition.empty()) {
    std::optional<bool> isTrue = holds(here->condition, view.calls().front(), view, why.text);
    // A condition that means nothing here is said, not passed over.
    if (isTrue == false)
      return std::nullopt;
  }
  return ++here->reached < here->hits ? std::nullopt : std::optional(why);
}

} // namespace ptl::debug
