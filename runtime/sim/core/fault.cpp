#include "runtime/sim/core/fault.h"

#include "runtime/sim/group.h"

namespace ptl::rt::sim {

bool failAt(const CoreState &core, const Step &step, const std::string &message) {
  return failAt(core, step, "`" + std::string(nameOf(step)) + "`", message);
}

bool failAt(const CoreState &core, const Step &step, const std::string &what,
            const std::string &message) {
  std::string place = toString(core.function.locations[static_cast<size_t>(step.location)]);
  return core.group.fail((place.empty() ? "" : place + ": ") + "block " +
                         std::to_string(core.group.block()) + ", " + core.name() + ": " + what +
                         " " + message);
}

bool failCheck(const CoreState &core, const Step &step) {
  Result &result = core.launch.result;
  const Check &check = core.function.checks[static_cast<size_t>(step.target)];
  if (result.ok) {
    FailedCheck &failed = result.failedCheck.emplace();
    failed.check = check;
    failed.at = core.function.locations[static_cast<size_t>(step.location)];
    for (size_t i = 0; i < step.operands.size(); ++i)
      failed.values.emplace_back(step.operandTypes[i], core.registers.scalar(step.operands[i]));
  }
  return failAt(core, step, check.message);
}

bool failDivision(const CoreState &core, const Step &step) {
  Result &result = core.launch.result;
  if (result.ok) {
    FailedCheck &failed = result.failedCheck.emplace();
    failed.check = {"arithmetic", "division by zero"};
    failed.at = core.function.locations[static_cast<size_t>(step.location)];
  }
  return failAt(core, step, "divides by zero");
}

bool failUnknown(const CoreState &core, const Step &step, const Scalar &needed) {
  std::string what = step.kind == StepKind::JumpUnlessLess ? "the number of iterations of a loop"
                     : step.kind == StepKind::JumpUnless   ? "whether a branch is taken"
                                                           : "`" + std::string(nameOf(step)) + "`";
  // An unknown scalar has the number of the array that it is an element of, from 1.
  std::string data = "a computed value";
  if (needed.i > 0)
    data = "elements of `" + core.launch.pointers[static_cast<size_t>(needed.i - 1)].name + "`";
  if (core.launch.result.ok)
    core.launch.result.lacksValues = true;
  return failAt(core, step, what,
                "depends on " + data +
                    ", whose values are not computed when only times are simulated");
}

} // namespace ptl::rt::sim
