// Readiness: what the scalar unit and the heads of pipes wait for.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

enum class Readiness : uint8_t {
  Idle,    ///< nothing to do
  Ready,   ///< the next step can be taken
  Waiting, ///< the next step waits for another pipe or core
};

/// Whether a pipe, or the scalar unit, could take its next step now.
Readiness readinessOf(const CoreState &core, Pipe pipe);

/// Whether the head of a pipe may begin.
bool isHeadReady(const CoreState &core, const Issued &head);

} // namespace ptl::rt::sim
