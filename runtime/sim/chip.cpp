#include "runtime/sim/chip.h"

namespace ptl::rt::sim {

Chip chipOf(const Machine &machine) {
  Chip chip;
  chip.name = machine.name;
  for (size_t i = 0; i < kNumPlaces; ++i)
    if (const MemorySpace *space = machine.space(placeNames[i])) {
      chip.bytes[i] = space->usableBytes();
      chip.alignment[i] = std::max<int64_t>(space->alignment, 1);
    }
  chip.vectorBarrier = machine.vectorBarrier;
  if (machine.exchange.vectorPerCube)
    chip.vectorPerCube = static_cast<int32_t>(machine.exchange.vectorPerCube);
  if (machine.events)
    chip.events = static_cast<int32_t>(machine.events);
  if (machine.crossCore.flags) {
    chip.crossFlags = static_cast<int32_t>(machine.crossCore.flags);
    chip.crossCountMax = static_cast<int32_t>(machine.crossCore.countMax);
  }
  // Chips whose cores reach each other's buffers have flags of pipes, the others one hub for all.
  chip.crossWaitsStopCore = !machine.exchange.throughBuffer;
  return chip;
}

} // namespace ptl::rt::sim
