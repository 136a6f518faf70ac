#include "runtime/sim/group.h"

namespace ptl::rt::sim {

Group::Group(LaunchState &launch, int64_t block)
    : launch_(launch), block_(block), queues_(launch.kernel.queues.size()) {
  const Kernel &kernel = launch.kernel;
  if (kernel.vector)
    // A kernel of vector cores alone has one core in each block.
    numVector_ = launch.options.vectorCores ? launch.options.vectorCores
                 : kernel.cube              ? launch.chip.vectorPerCube
                                            : 1;
  if (kernel.cube)
    cores_.push_back(std::make_unique<Core>(*this, *kernel.cube, 0, 0));
  for (int32_t i = 0; i < numVector_; ++i)
    cores_.push_back(
        std::make_unique<Core>(*this, *kernel.vector, static_cast<int32_t>(cores_.size()), i));
  for (const std::unique_ptr<Core> &core : cores_)
    memories_.push_back(&core->memory());
  signalled_.resize(cores_.size());
}

void Group::apply(QueueSignal signal, int32_t queue, int32_t core) {
  if (signal == QueueSignal::Signalled) {
    ++signalled_[static_cast<size_t>(core)][static_cast<size_t>(queue)];
    return;
  }
  QueueState &state = queues_[static_cast<size_t>(queue)];
  ++(signal == QueueSignal::Pushed   ? state.pushed
     : signal == QueueSignal::Popped ? state.popped
                                     : state.freed)[core];
}

bool Group::fail(std::string message) {
  // The first failure is the cause; later ones follow from it.
  if (launch_.result.ok) {
    launch_.result.ok = false;
    launch_.result.error = std::move(message);
  }
  return false;
}

void Group::collect(std::vector<Choice> &choices) {
  for (const std::unique_ptr<Core> &core : cores_) {
    bool isBusy = false;
    for (size_t i = 0; i < kNumPipes; ++i) {
      auto pipe = static_cast<Pipe>(i);
      Readiness state = core->readiness(pipe);
      isBusy |= pipe != Pipe::S && state != Readiness::Idle;
      if (state == Readiness::Ready)
        choices.push_back({core.get(), pipe});
    }
    // In this mode the scalar unit waits until its pipes are empty.
    if (isBusy && launch_.options.oneByOne)
      std::erase_if(choices, [&](const Choice &choice) {
        return choice.core == core.get() && choice.pipe == Pipe::S;
      });
  }
}

bool Group::isFinished() const {
  for (const std::unique_ptr<Core> &core : cores_)
    if (!core->isFinished())
      return false;
  return true;
}

bool Group::finish() {
  for (const std::unique_ptr<Core> &core : cores_)
    if (!core->finish())
      return false;
  // Events and queues must be balanced at the end; anything left over would confuse the next block.
  for (const std::unique_ptr<Core> &from : cores_)
    for (const std::unique_ptr<Core> &to : cores_)
      for (int32_t event = 0; from->isCube() != to->isCube() && event < int32_t(kMaxCrossFlags);
           ++event)
        if (signalled(from->index(), event) != to->awaited(event))
          return fail("block " + std::to_string(block_) + ", " + from->name() +
                      ": has signalled the event " + std::to_string(event) + " between cores " +
                      std::to_string(signalled(from->index(), event)) + " times, and " +
                      to->name() + " has waited for it " + std::to_string(to->awaited(event)) +
                      " times");
  for (size_t q = 0; q < queues_.size(); ++q) {
    const Queue &queue = launch_.kernel.queues[q];
    int64_t pushes = 0;
    for (const std::unique_ptr<Core> &core : cores_)
      if (core->isCube() == queue.toVector)
        pushes = std::max(pushes, queues_[q].pushed[core->index()]);
    for (const std::unique_ptr<Core> &core : cores_) {
      const QueueState &state = queues_[q];
      bool consumes = core->isCube() != queue.toVector && !core->neverTakesPart(q);
      // All tiles must have been popped and their slots given back.
      if (consumes &&
          (state.popped[core->index()] != pushes || state.freed[core->index()] != pushes))
        return fail("block " + std::to_string(block_) + ", " + core->name() + ": has popped " +
                    std::to_string(state.popped[core->index()]) + " and given back " +
                    std::to_string(state.freed[core->index()]) + " of " + std::to_string(pushes) +
                    " tiles of a queue");
    }
  }
  return true;
}

std::string Group::describeWaits() const {
  std::string text;
  for (const std::unique_ptr<Core> &core : cores_)
    text += core->describeWaits();
  return text;
}

} // namespace ptl::rt::sim
