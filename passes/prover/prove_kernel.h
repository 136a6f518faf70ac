// Enumerates the executions of one kernel that are judged, and judges one of them, for the prover
// and the mutation test.
#pragma once

#include "passes/prover/trace.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ptl::prove {

inline constexpr size_t kEventsPerInstance = 60000;
/// The maximal number of operations in an execution of a kernel; it is larger for kernels with long
/// texts.
size_t eventsPerInstance(const Kernel &kernel);

/// The number of events of all cores.
uint64_t eventsOf(const Execution &execution);

/// How instances that need too many operations are treated.
enum class Effort : uint8_t {
  All,      ///< without them nothing is proved
  Most,     ///< they are skipped and counted
  WhatFits, ///< they are skipped: a proof does not need them
};

/// Runs a kernel for its instances, from few iterations to many, and visits each execution that is
/// complete, is not excluded and differs from those before, until the budget of the kernel is used
/// up. `instances` are from `instancesOf`.
void forEachExecution(const Kernel &kernel, const std::vector<Inputs> &instances,
                      RangeTable &ranges, Findings &findings,
                      llvm::function_ref<void(const Inputs &, const Execution &)> visit,
                      Effort effort = Effort::All);

/// Judges one execution. With `firstOnly` it stops after the first kind of error.
void judgeExecution(const Kernel &kernel, const Inputs &inputs, const Execution &execution,
                    const RangeTable &ranges, const Machine &machine, Findings &findings,
                    bool firstOnly = false);

/// A hash of an execution. It is equal for two executions in which every pipe does the same, after
/// the same events of the scalar unit, and memory accesses have the same program order. Then the
/// prover's verdict is the same, and so is the result of any interleaving. Precondition: the
/// kernels consist of the same operations and share `ranges`.
uint64_t fingerprint(const Kernel &kernel, const Execution &execution);

} // namespace ptl::prove
