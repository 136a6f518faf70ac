#include "passes/prover/runner.h"

#include "passes/prover/mix.h"

#include "mlir/IR/Operation.h"

#include <algorithm>

namespace ptl::prove {

static constexpr int64_t kTurnsOnData = 3; ///< of a loop whose end only the data knows
static constexpr int64_t kTurnsOfWhile = 4096;
static constexpr int64_t kTurnsOfParts = 256; ///< that are all run of a loop that fills a tile

// ---- control flow
// -----------------------------------------------------------------------------------------

void Runner::runBody(uint32_t index) {
  for (const Step &step : function_->bodies[index].steps) {
    if (!goesOn())
      return;
    runStep(step);
  }
}

void Runner::assign(const std::vector<uint32_t> &to, size_t first,
                    const std::vector<Scalar> &values, size_t from) {
  for (size_t i = 0; first + i < to.size() && from + i < values.size(); ++i)
    at(to[first + i]) = values[from + i];
}

// A long loop runs its first and last turns; what is left out is a multiple of the rotation, and
// carried values go on as they did in the last rotation. Where turns fill a tile part by part, the
// first write after those that were left out stands for theirs.
void Runner::runFor(const Step &step) {
  int64_t lower = at(step.args[0]).value, upper = at(step.args[1]).value,
          by = at(step.args[2]).value;
  // Data that says how often it runs does not say where a turn is.
  bool data = at(step.args[0]).data || at(step.args[2]).data;
  int64_t turns = by > 0 && upper > lower ? (upper - lower - 1) / by + 1 : 0;
  const Body &body = function_->bodies[step.body];
  std::vector<Scalar> carried, earlier;
  for (size_t i = 3; i < step.args.size(); ++i)
    carried.push_back(at(step.args[i]));
  int64_t rotation = body.rotation, skipAt = -1, skip = 0;
  bool each = body.hasQueue || (body.fillsParts && turns <= kTurnsOfParts);
  if (!each && turns > 3 * rotation + 2) {
    skipAt = 2 * rotation;
    skip = (turns - 3 * rotation - 1) / rotation * rotation;
  }
  for (int64_t turn = 0; turn < turns && goesOn(); ++turn) {
    if (turn == skipAt - rotation)
      earlier = carried;
    bridging_ |= turn == skipAt && body.fillsParts;
    if (turn == skipAt) {
      turn += skip;
      for (size_t i = 0; i < carried.size(); ++i)
        carried[i].value += (carried[i].value - earlier[i].value) * (skip / rotation);
    }
    at(body.parameters[0]) = {lower + turn * by, data};
    assign(body.parameters, 1, carried, 0);
    yielded_.clear();
    runBody(step.body);
    carried = yielded_;
    bridging_ &= turn != skipAt + skip;
  }
  assign(step.results, 0, carried, 0);
}

void Runner::runIf(const Step &step) {
  yielded_.clear();
  bool around = onData_;
  onData_ |= at(step.args[0]).data;
  runBody(at(step.args[0]).value ? step.body : step.other);
  onData_ = around;
  std::vector<Scalar> values = yielded_;
  assign(step.results, 0, values, 0);
}

void Runner::runWhile(const Step &step) {
  std::vector<Scalar> values;
  for (uint32_t argument : step.args)
    values.push_back(at(argument));
  for (int64_t turn = 0; goesOn(); ++turn) {
    assign(function_->bodies[step.body].parameters, 0, values, 0);
    yielded_.clear();
    runBody(step.body);
    values = yielded_;
    bool again = !values.empty() && values[0].value, data = !values.empty() && values[0].data;
    if (turn == kTurnsOfWhile)
      findings_.undecided(operation(step),
                          "a loop with more than " + std::to_string(kTurnsOfWhile) + " turns");
    if (!again || turn == kTurnsOfWhile || (data && turn == kTurnsOnData))
      break;
    assign(function_->bodies[step.other].parameters, 0, values, 1);
    yielded_.clear();
    runBody(step.other);
    values = yielded_;
  }
  assign(step.results, 0, values, 1);
}

void Runner::runStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Calc: {
    const Scalar *operands[3] = {};
    for (size_t i = 0; i < step.args.size() && i < 3; ++i)
      operands[i] = &at(step.args[i]);
    at(step.dst) = calculate(step, operands[0], operands[1], operands[2]);
    break;
  }
  case StepKind::Input:
    at(step.dst) = {inputs_[static_cast<size_t>(step.imm)], step.sub != 0};
    break;
  case StepKind::Assume:
    execution_.excluded |= at(step.args[0]).value == 0;
    break;
  case StepKind::Stop: // what follows a check of data is judged as if that held
    execution_.excluded |= !onData_;
    break;
  case StepKind::SubBlock:
    at(step.dst) = {core_->subBlock, false};
    break;
  case StepKind::For:
    runFor(step);
    break;
  case StepKind::If:
    runIf(step);
    break;
  case StepKind::While:
    runWhile(step);
    break;
  case StepKind::Yield:
    yielded_.clear();
    for (uint32_t argument : step.args)
      yielded_.push_back(at(argument));
    break;
  default:
    runOnMemory(step);
  }
}

// ---- kernels
// ----------------------------------------------------------------------------------------------

Execution runKernel(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges,
                    Findings &findings, size_t limit) {
  Execution execution;
  execution.cores.reserve(kMaxCores);
  execution.buffers.push_back({}); // of tiles that no pop has bound yet
  for (const Function &function : kernel.functions) {
    Runner runner(kernel, inputs, ranges, findings, execution, limit);
    bool onBoth = !function.cube && (function.usesSubBlock || kernel.functions.size() > 1);
    runner.run(function, 0);
    if (!onBoth || execution.cores.size() == kMaxCores)
      continue;
    if (function.usesSubBlock) {
      runner.run(function, 1);
    } else { // the same again
      execution.cores.push_back(execution.cores.back());
      execution.cores.back().subBlock = 1;
    }
  }
  for (const Core &core : execution.cores)
    execution.hash = mix(execution.hash, core.hash);
  return execution;
}

} // namespace ptl::prove
