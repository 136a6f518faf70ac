#include "runtime/sim/core.h"

#include "runtime/sim/core/event_steps.h"
#include "runtime/sim/core/fault.h"
#include "runtime/sim/core/issue.h"
#include "runtime/sim/core/operations.h"
#include "runtime/sim/core/scalar_unit.h"
#include "runtime/sim/core/waits.h"

namespace ptl::rt::sim {

bool Core::begin() { return runToIssue(state_); }

bool Core::advance(Pipe pipe) {
  return pipe == Pipe::S ? advanceScalar(state_) : advancePipe(state_, pipe);
}

bool Core::startHead(Pipe pipe) {
  return runOperation(state_, pipe, state_.pipes[pipe].queue.front());
}

void Core::endHead(Pipe pipe) { completeHead(state_, pipe); }

Flag Core::flagOf(const Step &step) const { return eventOf(state_, step); }

std::string Core::describeWaits() const { return sim::describeWaits(state_); }

bool Core::finish() {
  state_.vectorWrites.settle(randomOrder(state_));
  // An event that is left set would let a wait of the next block pass.
  if (std::optional<Flag> event = state_.events.anySet())
    return failAt(state_, state_.next(), "leaves the event " + eventText(*event) + " set");
  return true;
}

} // namespace ptl::rt::sim
