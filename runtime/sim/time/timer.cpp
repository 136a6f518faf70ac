// The outside of the machinery of times.
#include "runtime/sim/time/timer.h"
#include "runtime/sim/time/engine_tasks.h"

namespace ptl::rt::sim {

Timer::Timer(const Machine &machine, const MachineCosts &costs, TimeOptions options)
    : engine_(std::make_unique<Engine>(machine, costs, std::move(options))) {}
Timer::~Timer() = default;

uint32_t Timer::addArray(int64_t bytes, size_t rank, std::string name, bool isIntermediate) {
  return sim::addArray(*engine_, bytes, rank, std::move(name), isIntermediate);
}

bool Timer::submit(TaskRequest request) { return sim::submit(*engine_, std::move(request)); }
bool Timer::await(const ArrayAccess &access) { return sim::await(*engine_, access); }
bool Timer::finish() { return sim::finish(*engine_); }

bool Timer::run(const Kernel &kernel, std::span<const GlobalArray> pointers,
                std::span<const uint32_t> arrays, std::span<const Scalar> scalars, int64_t blocks) {
  TaskRequest request;
  request.kernel = &kernel;
  request.pointers.assign(pointers.begin(), pointers.end());
  request.arrays.assign(arrays.begin(), arrays.end());
  request.scalars.assign(scalars.begin(), scalars.end());
  request.blocks = blocks;
  return finish() && submit(std::move(request)) && finish();
}

int64_t Timer::groupsFor(const Kernel &kernel) const { return engine_->groupsFor(kernel); }
const Timeline &Timer::timeline() const { return engine_->timeline; }
Timeline Timer::take() { return std::move(engine_->timeline); }

} // namespace ptl::rt::sim
