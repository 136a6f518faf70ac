// Judges accesses to the same bytes: whether they are ordered, and whether every read sees the
// value of its own buffer.
#pragma once

#include "passes/prover/order.h"

namespace ptl::prove {

/// The input of the judges for one execution.
struct Case {
  const Kernel &kernel;
  const Execution &execution;
  const Order &order;
  const RangeTable &ranges;
  Findings &findings;
  std::string with;               ///< `n = 65`: the values of the inputs, for messages
  size_t enoughFaults = SIZE_MAX; ///< the search ends when there are so many findings

  bool enough() const { return findings.faults() >= enoughFaults; }

  const Event &event(EventRef ref) const { return execution.cores[ref.core].events[ref.event]; }
  mlir::Operation *operation(EventRef ref) const { return kernel.operations[event(ref).op]; }
  std::string bufferName(uint32_t buffer) const;
};

/// Judges on-chip memory, for every core in program order.
void judgeTiles(const Case &judged);
/// Judges the slots of queues in the consumer's memory: no operation may access a tile after its
/// slot has been freed.
void judgeSlots(const Case &judged);

enum class HazardKind : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };

} // namespace ptl::prove
