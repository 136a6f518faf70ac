// Accesses to the same bytes: is there an order between them, and does every read see the value of
// its own buffer?
#pragma once

#include "passes/prover/order.h"

namespace ptl::prove {

/// What the judges of one execution share.
struct Case {
  const Kernel &kernel;
  const Execution &execution;
  const Order &order;
  const RangeTable &ranges;
  Findings &findings;
  std::string with;               ///< `n = 65`: the values of the inputs, for messages
  size_t enoughFaults = SIZE_MAX; ///< with so many findings in all nothing more is looked for

  bool enough() const { return findings.faults() >= enoughFaults; }

  const Event &event(EventRef ref) const { return execution.cores[ref.core].events[ref.event]; }
  mlir::Operation *operation(EventRef ref) const { return kernel.operations[event(ref).op]; }
  std::string bufferName(uint32_t buffer) const;
};

/// On-chip memory: of every core in program order.
void judgeTiles(const Case &judged);
/// Slots of queues through the consumer's memory: nobody touches a tile whose slot was given back.
void judgeSlots(const Case &judged);
/// Global memory, between all pipes of a cube core and its vector cores; what both vector cores do
/// where once was meant.
void judgeGlobal(const Case &judged);
/// What the simulation of events and queues found.
void judgeSync(const Case &judged);
/// Placement, ids and queues, as far as they follow from the declarations and the addresses of one
/// execution.
void judgePlaces(const Case &judged, const Machine &machine);
void judgeQueues(const Kernel &kernel, const Machine &machine, Findings &findings);

enum class HazardKind : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
/// Reports a missing order between `first` and `second` (in program order). `what`, `other`: names
/// of what they touch.
void reportHazard(const Case &judged, HazardKind kind, EventRef first, EventRef second,
                  const std::string &what, const std::string &other);

} // namespace ptl::prove
