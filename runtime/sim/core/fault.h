// How a core fails: with the place, the block and the core in front of the message. All functions
// return false, so that callers can return what they return.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// The step, or `what` happens there, fails; `message` goes on with the sentence. The group keeps
/// the first failure.
bool failAt(const CoreState &core, const Step &step, const std::string &message);
bool failAt(const CoreState &core, const Step &step, const std::string &what,
            const std::string &message);

/// A check of the program has failed, which the result of the launch reports with its values.
bool failCheck(const CoreState &core, const Step &step);

/// The program divides by zero, which the result of the launch reports like a check.
bool failDivision(const CoreState &core, const Step &step);

/// The step needed a value that only data knows, in a run without data.
bool failUnknown(const CoreState &core, const Step &step, const Scalar &needed);
/// Whether all values that the step has used are known; if one is not, the core fails.
inline bool wasKnown(CoreState &core, const Step &step) {
  const Scalar *needed = core.registers.takeNeeded();
  return !needed || failUnknown(core, step, *needed);
}

} // namespace ptl::rt::sim
