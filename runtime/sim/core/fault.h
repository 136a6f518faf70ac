// How a core fails: the message is prefixed with the source location, the block and the core. All
// functions return false, so that callers can return their result.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// The step, or `what` in it, fails; `message` continues the sentence. The group keeps the first
/// failure.
bool failAt(const CoreState &core, const Step &step, const std::string &message);
bool failAt(const CoreState &core, const Step &step, const std::string &what,
            const std::string &message);

/// A check of the program has failed; the result of the launch reports it with its values.
bool failCheck(const CoreState &core, const Step &step);

/// The program divides by zero; the result of the launch reports it like a check.
bool failDivision(const CoreState &core, const Step &step);

/// The step needs a value that depends on data, in a run without data.
bool failUnknown(const CoreState &core, const Step &step, const Scalar &needed);
/// Whether all values that the step has used are known; otherwise the core fails.
inline bool wasKnown(CoreState &core, const Step &step) {
  const Scalar *needed = core.registers.takeNeeded();
  return !needed || failUnknown(core, step, *needed);
}

} // namespace ptl::rt::sim
