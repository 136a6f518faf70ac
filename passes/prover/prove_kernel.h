// The executions of one kernel that are judged, and the verdict on one of them: what the prover and
// the mutation test share.
#pragma once

#include "passes/prover/trace.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ptl::prove {

inline constexpr size_t kEventsPerInstance = 60000;
/// What an execution of a kernel may take: so many operations, or more where its text is long.
size_t eventsPerInstance(const Kernel &kernel);

/// Of all cores.
uint64_t eventsOf(const Execution &execution);

/// What becomes of instances that take too many operations.
enum class Effort : uint8_t {
  All,      ///< without them nothing is proved
  Most,     ///< they are counted
  WhatFits, ///< nothing: they are more than a proof needs
};

/// Runs a kernel for its instances, from few turns to many, and visits each execution that is
/// complete, is not excluded and differs from those before, until the budget for a kernel is used
/// up. `instances`: from `instancesOf`.
void forEachExecution(const Kernel &kernel, const std::vector<Inputs> &instances,
                      RangeTable &ranges, Findings &findings,
                      llvm::function_ref<void(const Inputs &, const Execution &)> visit,
                      Effort effort = Effort::All);

/// Judges one execution. `firstOnly`: what comes after the first kind of fault is not looked for.
void judgeExecution(const Kernel &kernel, const Inputs &inputs, const Execution &execution,
                    const RangeTable &ranges, const Machine &machine, Findings &findings,
                    bool firstOnly = false);

/// Equal for two executions in which every pipe does the same, after the same events of the scalar
/// unit, and what touches memory has the same order in the program. Then the prover's verdict is
/// the same, and so is what any interleaving gives. For kernels that are made of the same
/// operations and share `ranges`.
uint64_t fingerprint(const Kernel &kernel, const Execution &execution);

} // namespace ptl::prove
