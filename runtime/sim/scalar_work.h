// What the scalar unit of a core does, counted by what takes equal time.
#pragma once

#include "runtime/sim/program.h"

#include <cstdint>

namespace ptl::rt::sim {

struct ScalarWork {
  uint64_t plain = 0;    ///< computations and branches
  uint64_t issues = 0;   ///< operations of pipes, events and queues
  uint64_t accesses = 0; ///< elements of memory and of tiles

  bool operator==(const ScalarWork &) const = default;
  ScalarWork &operator+=(const ScalarWork &more) {
    plain += more.plain;
    issues += more.issues;
    accesses += more.accesses;
    return *this;
  }
  ScalarWork operator-(const ScalarWork &before) const {
    return {plain - before.plain, issues - before.issues, accesses - before.accesses};
  }
  ScalarWork operator*(uint64_t times) const {
    return {plain * times, issues * times, accesses * times};
  }
};

/// What a step is that is not plain (`isPlain`).
inline ScalarWork workOfStep(const Step &step) {
  bool isAccess = step.kind == StepKind::LoadScalar || step.kind == StepKind::StoreScalar ||
                  step.kind == StepKind::GetValue;
  return {0, !isAccess, isAccess};
}

} // namespace ptl::rt::sim
