// What steps about events do: between the pipes of a core, and between cores.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

inline bool isEvent(StepKind kind) {
  return kind == StepKind::SetFlag || kind == StepKind::WaitFlag || kind == StepKind::SignalCores ||
         kind == StepKind::WaitCores;
}

/// The event of a step, whose number may be in a register.
Flag eventOf(const CoreState &core, const Step &step);

/// Whether an operation about an event names one that the chip has, else the core fails. Counts
/// waits for other cores.
bool checkEvent(CoreState &core, const Issued &issued);

/// Sets an event for another pipe of the core. False after an error.
bool setEvent(CoreState &core, Pipe pipe, const Issued &issued);
/// Goes on after a wait for an event that is set.
void takeEvent(CoreState &core, Pipe pipe, const Issued &issued);

/// Whether all cores of the other kind have signalled an event more often than `number` times.
bool hasSignals(const CoreState &core, int32_t event, int64_t number);
/// Signals an event to the cores of the other kind. False after an error.
bool signalCores(CoreState &core, Pipe pipe, const Issued &issued);
/// Goes on after a wait for other cores.
void takeSignal(CoreState &core, Pipe pipe, const Issued &issued);

/// The generator that mixes what has no order, or null where the schedule keeps the order.
std::mt19937_64 *randomOrder(const CoreState &core);

} // namespace ptl::rt::sim
