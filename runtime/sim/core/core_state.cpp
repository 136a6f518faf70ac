#include "runtime/sim/core/core_state.h"

#include "runtime/sim/group.h"

namespace ptl::rt::sim {

/// Vector cores have the vector buffer, and the cube core has all other memories. Without values
/// nobody needs bytes.
static void allocate(CoreMemory &memory, const LaunchState &launch, bool isCube) {
  for (size_t i = 0; i < kNumPlaces; ++i) {
    bool isMine = (static_cast<Place>(i) == Place::Vec) != isCube;
    isMine &= launch.options.values;
    memory.places[i].allocate(isMine ? launch.chip.bytes[i] : 0);
  }
}

/// Arguments come in the order of the parameters; pointers and scalars are given in separate lists.
static void setArguments(CoreState &core) {
  size_t nextPointer = 0, nextScalar = 0;
  for (size_t i = 0; i < core.function.arguments.size(); ++i) {
    const Parameter &parameter = core.launch.kernel.parameters[i];
    Register argument = core.function.arguments[i];
    if (!parameter.isPointer) {
      core.registers.scalar(argument) = core.launch.scalars[nextScalar++];
      continue;
    }
    View &pointer = core.registers.view(argument);
    pointer.array = static_cast<int32_t>(nextPointer++);
    pointer.elem = parameter.type.kind;
  }
}

static void makeSampler(CoreState &core) {
  const Options &options = core.launch.options;
  const LoopShapes *shapes = core.launch.shapesOf(core.function);
  if (!shapes)
    return;
  LoopSampler &sampler = core.loops.sampler.emplace(*shapes, core.group.loops(), core.function.cube,
                                                    options.glance   ? SampleMode::Glance
                                                    : options.sample ? SampleMode::LeaveOut
                                                                     : SampleMode::Look);
  if (options.keepInnerQueues)
    sampler.keepInnerQueues();
  if (options.agesCache)
    sampler.measureAllAlong();
}

CoreState::CoreState(Group &group, const Function &function, int32_t index, int32_t subBlock)
    : group(group), launch(group.launch()), function(function), index(index), subBlock(subBlock),
      registers(function), queueEnds(launch.kernel.queues.size()) {
  allocate(memory, launch, function.cube);
  makeSampler(*this);
  setArguments(*this);
}

std::string CoreState::name() const {
  return function.cube ? "the cube core" : "vector core " + std::to_string(subBlock);
}

} // namespace ptl::rt::sim
