#include "runtime/sim/loop_control.h"

#include "runtime/sim/scalar.h"

#include <algorithm>
#include <set>

namespace ptl::rt::sim {

/// Scalars that decide which way a step goes: of a branch its condition, of a loop its bounds.
static std::span<const Register> decidedBy(const Step &step) {
  std::span<const Register> operands = step.operands;
  if (step.kind == StepKind::JumpUnless)
    return operands.first(1);
  return step.kind == StepKind::JumpUnlessLess ? operands.first(3) : std::span<const Register>();
}

static bool isArithmetic(const Step &step) {
  return step.kind == StepKind::Constant || step.kind == StepKind::Compute ||
         (step.kind == StepKind::Move && step.result.isScalar());
}

LoopControl::LoopControl(const Function &function, size_t head)
    : function_(&function), head_(head) {
  const Step &loop = function.steps[head];
  std::set<int32_t> wanted;
  std::set<size_t> chosen;
  // This is a backward slice: the steps that decide which way each step goes, and those that
  // compute what they need.
  auto choose = [&](size_t i, std::span<const Register> operands) {
    chosen.insert(i);
    for (Register operand : operands)
      if (operand.isScalar())
        wanted.insert(operand.index);
  };
  size_t known = ~size_t(0);
  while (chosen.size() != known) { // what inner loops carry comes round
    known = chosen.size();
    // Steps are visited from the end, so most chains are found in one pass.
    for (auto i = static_cast<size_t>(loop.target); --i > head;) {
      const Step &step = function.steps[i];
      if (std::span<const Register> operands = decidedBy(step); !operands.empty())
        choose(i, operands);
      // A forward jump ends one arm of a branch.
      else if (step.kind == StepKind::Jump && step.target > static_cast<int32_t>(i))
        chosen.insert(i);
      else if (isArithmetic(step) && wanted.count(step.result.index))
        choose(i, step.operands);
    }
  }
  steps_.assign(chosen.begin(), chosen.end());
  // Without the loop's own variable every round goes the same way.
  varies_ = wanted.count(loop.operands[0].index) > 0;
}

uint64_t LoopControl::at(std::span<const Scalar> scalars, int64_t position) const {
  std::vector<Scalar> values(scalars.begin(), scalars.end());
  auto valueOf = [&](Register r) -> Scalar & { return values[static_cast<size_t>(r.index)]; };
  valueOf(function_->steps[head_].operands[0]).i = position;
  uint64_t ways = 0;
  // The ways are hashed in order; two rounds with the same hash do the same steps.
  auto note = [&](int64_t way) { ways = ways * 1000003 + static_cast<uint64_t>(way) + 1; };
  auto goOn = [&](size_t next, int32_t target) {
    // The target of a jump may be no step of the slice, so the next one behind it is taken.
    return static_cast<size_t>(
        std::lower_bound(steps_.begin() + static_cast<ptrdiff_t>(next), steps_.end(), target) -
        steps_.begin());
  };
  for (size_t i = 0; i < steps_.size();) {
    const Step &step = function_->steps[static_cast<size_t>(steps_[i])];
    ++i;
    std::string error;
    Scalar operands[3];
    switch (step.kind) {
    case StepKind::Constant:
      valueOf(step.result) = step.constant;
      break;
    case StepKind::Move:
      valueOf(step.result) = valueOf(step.operands[0]);
      break;
    case StepKind::Compute:
      for (size_t k = 0; k < step.operands.size(); ++k)
        operands[k] = valueOf(step.operands[k]);
      evaluate(step, operands, valueOf(step.result), error);
      break;
    case StepKind::JumpUnlessLess: {
      int64_t by = std::max<int64_t>(valueOf(step.operands[2]).i, 1);
      int64_t length = valueOf(step.operands[1]).i - valueOf(step.operands[0]).i;
      // Of an inner loop only the number of rounds matters.
      note(length > 0 ? (length + by - 1) / by : 0);
      i = length > 0 ? i : goOn(i, step.target);
      break;
    }
    case StepKind::JumpUnless: {
      bool isTrue = valueOf(step.operands[0]).i != 0;
      note(isTrue);
      i = isTrue ? i : goOn(i, step.target);
      break;
    }
    default: // a jump past the other side of a branch
      i = goOn(i, step.target);
      break;
    }
  }
  return ways;
}

} // namespace ptl::rt::sim
