#include "runtime/sim/core/scalar_unit.h"

#include "runtime/sim/core/fault.h"
#include "runtime/sim/core/make_tile.h"
#include "runtime/sim/core/make_view.h"
#include "runtime/sim/group.h"
#include "runtime/sim/scalar.h"

namespace ptl::rt::sim {

static bool isPlain(StepKind kind) {
  switch (kind) {
  case StepKind::Return:
  case StepKind::LoadScalar:
  case StepKind::StoreScalar:
  case StepKind::GetValue:
  case StepKind::Push:
  case StepKind::Pop:
  case StepKind::Free:
  case StepKind::SetFlag:
  case StepKind::WaitFlag:
  case StepKind::SignalCores:
  case StepKind::WaitCores:
  case StepKind::Barrier:
  case StepKind::Instruction:
    return false;
  default:
    return true;
  }
}

/// Constants, names of buffers and copies of registers are gone in machine code.
static bool takesTime(StepKind kind) {
  switch (kind) {
  case StepKind::Constant:
  case StepKind::Move:
  case StepKind::Jump:
  case StepKind::AllocTile:
  case StepKind::Alias:
  case StepKind::SetValid:
  case StepKind::DeclareTile:
  case StepKind::InitQueue:
    return false;
  default:
    return true;
  }
}

static bool runCompute(CoreState &core, const Step &step) {
  Scalar values[3];
  Scalar &result = core.registers.scalar(step.result);
  for (size_t i = 0; i < step.operands.size(); ++i) {
    values[i] = core.registers.scalar(step.operands[i]);
    // What is computed from an unknown value is unknown, too.
    if (!values[i].isKnown) {
      result = values[i];
      return true;
    }
  }
  // Of arithmetic only a division by zero has no value.
  std::string error;
  return evaluate(step, values, result, error) || failDivision(core, step);
}

static void moveRegister(Registers &registers, const Step &step) {
  switch (step.result.kind) {
  case RegisterKind::Scalar:
    registers.scalar(step.result) = registers.scalar(step.operands[0]);
    return;
  case RegisterKind::Tile:
    registers.tile(step.result) = registers.tile(step.operands[0]);
    return;
  case RegisterKind::View:
    registers.view(step.result) = registers.view(step.operands[0]);
    return;
  }
}

/// Whether a step is a check of data that is not there. A check is a branch over a trap, in either
/// form: the trap follows the branch, or the branch goes to it.
static bool isCheckOfUnknown(const CoreState &core, const Step &step) {
  const std::vector<Step> &steps = core.function.steps;
  auto target = static_cast<size_t>(step.target);
  return !core.registers.scalar(step.operands[0]).isKnown &&
         (core.next().kind == StepKind::Trap ||
          (target < steps.size() && steps[target].kind == StepKind::Trap));
}

static void jumpUnless(CoreState &core, const Step &step) {
  // Without values a check of data cannot be decided, so it is taken to hold.
  bool jumps = isCheckOfUnknown(core, step) ? core.next().kind == StepKind::Trap
                                            : !core.registers.integer(step, 0);
  if (jumps)
    core.scalar.position = step.target;
}

static void jumpUnlessLess(CoreState &core, const Step &step) {
  // The sampler may move the loop's variable on, so it comes before the comparison.
  if (core.loops.sampler)
    beginRound(core, step);
  if (core.registers.integer(step, 0) >= core.registers.integer(step, 1))
    core.scalar.position = step.target;
}

static bool runPlain(CoreState &core, const Step &step) {
  Registers &registers = core.registers;
  switch (step.kind) {
  case StepKind::Constant:
    registers.scalar(step.result) = step.constant;
    return true;
  case StepKind::Compute:
    return runCompute(core, step);
  case StepKind::Move:
    moveRegister(registers, step);
    return true;
  case StepKind::Jump:
    core.scalar.position = step.target;
    return true;
  case StepKind::Trap:
    return failCheck(core, step);
  case StepKind::JumpUnless:
    jumpUnless(core, step);
    return true;
  case StepKind::JumpUnlessLess:
    jumpUnlessLess(core, step);
    return true;
  case StepKind::AddPointer:
    addPointer(registers, step);
    return true;
  case StepKind::MakeView:
    makeView(registers, step);
    return true;
  case StepKind::PartitionView:
    return partitionView(core, step);
  case StepKind::BlockIndex:
    registers.scalar(step.result) = Scalar::integer(core.group.block());
    return true;
  case StepKind::BlockCount:
    registers.scalar(step.result) = Scalar::integer(core.launch.blocks);
    return true;
  case StepKind::SubBlockIndex:
    registers.scalar(step.result) = Scalar::integer(core.subBlock);
    return true;
  case StepKind::SubBlockCount:
    // A kernel for cube cores alone has no vector core in its group; its only core counts as one.
    registers.scalar(step.result) = Scalar::integer(std::max(core.group.numVector(), 1));
    return true;
  case StepKind::InitQueue:
    initQueue(core, step);
    return true;
  case StepKind::SetValid:
    setValid(registers, step, registers.tile(step.operands[0]));
    return true;
  default:
    return makeTile(core, step);
  }
}

bool runToIssue(CoreState &core) {
  LaunchState &launch = core.launch;
  // Steps that neither wait nor reach a pipe are done at once.
  while (isPlain(core.next().kind)) {
    const Step &step = core.next();
    ++core.scalar.position;
    core.scalar.work.plain += takesTime(step.kind);
    // The limit stops loops without an end in the kernel.
    if (launch.options.maxSteps && ++launch.steps > launch.options.maxSteps)
      return failAt(core, step,
                    "took more than " + std::to_string(launch.options.maxSteps) + " steps");
    if (!runPlain(core, step) || !wasKnown(core, step))
      return false;
  }
  return true;
}

} // namespace ptl::rt::sim
