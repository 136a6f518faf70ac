// The properties of a machine that the simulator needs.
#pragma once

#include "machines/machine.h"
#include "runtime/sim/tile.h"

#include <optional>
#include <string>

namespace ptl::rt::sim {

struct Chip {
  std::string name;
  int64_t bytes[kNumPlaces] = {};     ///< usable bytes of a core; 0: the memory does not exist
  int64_t alignment[kNumPlaces] = {}; ///< of the addresses of buffers
  bool vectorBarrier = false;         ///< dependent vector instructions need a barrier
  int32_t vectorPerCube = 2;
  int32_t events = 8; ///< ids of each ordered pair of pipes
  /// cross-core events: ids, and the limit of their counters
  int32_t crossFlags = 16, crossCountMax = 15;
  bool crossWaitsStopCore = false; ///< a wait for another core stops the scalar unit
};

Chip chipOf(const Machine &machine);

} // namespace ptl::rt::sim
