// The execution of event steps: between the pipes of a core, and between cores.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

inline bool isEvent(StepKind kind) {
  return kind == StepKind::SetFlag || kind == StepKind::WaitFlag || kind == StepKind::SignalCores ||
         kind == StepKind::WaitCores;
}

/// The event of a step; its number may be in a register.
Flag eventOf(const CoreState &core, const Step &step);

/// Whether an event operation names an event that the chip has; otherwise the core fails. Counts
/// waits for other cores.
bool checkEvent(CoreState &core, const Issued &issued);

/// Sets an event for another pipe of the core. False after an error.
bool setEvent(CoreState &core, Pipe pipe, const Issued &issued);
/// Completes a wait for an event that is set.
void takeEvent(CoreState &core, Pipe pipe, const Issued &issued);

/// Whether all cores of the other kind have signalled an event more than `number` times.
bool hasSignals(const CoreState &core, int32_t event, int64_t number);
/// Signals an event to the cores of the other kind. False after an error.
bool signalCores(CoreState &core, Pipe pipe, const Issued &issued);
/// Completes a wait for other cores.
void takeSignal(CoreState &core, Pipe pipe, const Issued &issued);

/// The generator that randomises choices without a defined order; null if the schedule is
/// deterministic.
std::mt19937_64 *randomOrder(const CoreState &core);

} // namespace ptl::rt::sim
