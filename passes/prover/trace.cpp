#include "passes/prover/calculate.h"
#include "passes/prover/runner.h"

#include "passes/prover/mix.h"

#include "mlir/IR/Operation.h"

#include <algorithm>
#include <array>
#include <map>

namespace ptl::prove {

static constexpr int64_t kTurnsOnData = 3; ///< of a loop whose end only the data knows
static constexpr int64_t kTurnsOfWhile = 4096;

// ---- control flow -------------------------------------------------------------------------------

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

void Runner::runIf(const Step &step) {
  yielded_.clear();
  // Inside a branch on data, a trap is taken to be a check of that data.
  bool around = checksData_;
  checksData_ = at(step.args[0]).data;
  runBody(at(step.args[0]).value ? step.body : step.other);
  checksData_ = around;
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
    // The limit keeps the prover from hanging; such a loop is reported as undecided.
    if (turn == kTurnsOfWhile)
      findings_.undecided(operation(step),
                          "a loop with more than " + std::to_string(kTurnsOfWhile) + " turns");
    // How often a loop on data runs is unknown, so a few turns stand for all.
    if (!again || turn == kTurnsOfWhile || (data && turn == kTurnsOnData))
      break;
    // The first yielded value is the condition; the others are passed on to the body.
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
    execution_.excluded |= !checksData_;
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

// ---- kernels ------------------------------------------------------------------------------------

/// Whether all cores leave out the same of each queue and each event between cores, at about the
/// same place: then what one of them hands over another one takes, as if nothing had been left out.
static bool isLeftOutTogether(const Execution &execution) {
  using Key = std::pair<bool, uint16_t>; // an event between cores, or a queue; which
  std::map<Key, std::vector<LeftOut>> counted[kMaxCores][3];
  for (const LeftOut &each : execution.leftOut) {
    bool isEvent = each.kind == Event::Signal || each.kind == Event::Await;
    // Events between cores have signal and await as slots 0 and 1; queues have push, pop and free.
    size_t what = isEvent ? each.kind == Event::Await : each.kind - Event::Push;
    counted[each.core][what][{isEvent, each.flag}].push_back(each);
  }
  auto isSame = [](const std::vector<LeftOut> &one, const std::vector<LeftOut> &two) {
    return std::equal(one.begin(), one.end(), two.begin(), two.end(),
                      [](const LeftOut &a, const LeftOut &b) {
                        // The gap may begin at a slightly different turn, as long as the gaps
                        // overlap.
                        return a.count == b.count && std::abs(a.before - b.before) <= a.count;
                      });
  };
  for (uint32_t core = 0; core < execution.cores.size(); ++core)
    for (const auto &made : counted[core])
      for (const auto &[key, own] : made)
        for (uint32_t other = 0; other < execution.cores.size(); ++other) {
          bool isPeer =
              execution.cores[core].function->cube != execution.cores[other].function->cube;
          bool isGiven = &made == &counted[core][0], isEvent = key.first;
          // Events go both ways; of a queue one side pushes, and the other pops and frees.
          size_t first = isGiven ? 1 : 0, last = isGiven && !isEvent ? 2 : first;
          for (size_t what = first; isPeer && what <= last; ++what)
            if (auto its = counted[other][what].find(key);
                its == counted[other][what].end() || !isSame(own, its->second))
              return false;
        }
  return true;
}

static Execution runFunctions(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges,
                              Findings &findings, size_t limit, int64_t mostLeftOut) {
  Execution execution;
  // Runners hold pointers to cores, so the vector must not move them.
  execution.cores.reserve(kMaxCores);
  execution.buffers.push_back({}); // of tiles that no pop has bound yet
  for (const Function &function : kernel.functions) {
    Runner runner(kernel, inputs, ranges, findings, execution, limit, mostLeftOut);
    // Beside a cube core, both vector cores run the function.
    bool onBoth = !function.cube && (function.usesSubBlock || kernel.functions.size() > 1);
    runner.run(function, 0);
    if (!onBoth || execution.cores.size() == kMaxCores)
      continue;
    if (function.usesSubBlock) {
      runner.run(function, 1);
    } else { // the same again
      size_t leftOut = execution.leftOut.size();
      auto last = static_cast<uint32_t>(execution.cores.size() - 1);
      execution.cores.push_back(execution.cores.back());
      execution.cores.back().subBlock = 1;
      // The code does not ask for its core, so the second vector core issues exactly the same.
      for (size_t i = 0; i < leftOut; ++i)
        if (execution.leftOut[i].core == last) {
          execution.leftOut.push_back(execution.leftOut[i]);
          execution.leftOut.back().core = last + 1;
        }
    }
  }
  for (const Core &core : execution.cores)
    execution.hash = mix(execution.hash, core.hash);
  return execution;
}

/// The numbers of pushes, pops and frees of a queue on a core, with those that were left out.
static std::array<int64_t, 3> totalsOf(const Execution &execution, uint32_t core, uint16_t queue) {
  std::array<int64_t, 3> totals = {};
  auto count = [&](Event::Kind kind, int64_t times) {
    if (kind == Event::Push || kind == Event::Pop || kind == Event::Free)
      totals[static_cast<size_t>(kind - Event::Push)] += times;
  };
  for (const Event &event : execution.cores[core].events)
    if (event.flag == queue)
      count(event.kind, 1);
  for (const LeftOut &each : execution.leftOut)
    if (each.core == core && each.flag == queue)
      count(each.kind, each.count);
  return totals;
}

/// The operation of a kind on a queue, on any core.
static mlir::Operation *operationOn(const Kernel &kernel, const Execution &execution,
                                    Event::Kind kind, uint16_t queue) {
  for (const Core &core : execution.cores)
    for (const Event &event : core.events)
      if (event.kind == kind && event.flag == queue)
        return kernel.operations[event.op];
  return kernel.functions.front().op;
}

/// Queues of which some core pops more or fewer than another one pushes, told by their numbers.
static void reportUnbalanced(const Kernel &kernel, const Execution &execution, Findings &findings) {
  auto count = static_cast<uint16_t>(kernel.queues.size());
  for (uint16_t queue = 0; queue < count; ++queue) {
    int64_t pushed = INT64_MAX, popped = 0;
    for (uint32_t core = 0; core < execution.cores.size(); ++core) {
      auto [pushes, pops, frees] = totalsOf(execution, core, queue);
      if (pushes)
        // A core that never pushes is no producer and does not limit the others.
        pushed = std::min(pushed, pushes);
      popped = std::max(popped, pops);
    }
    if (pushed == INT64_MAX || pushed == popped)
      continue;
    bool isMissing = popped > pushed;
    std::string what =
        isMissing ? "pop " + std::to_string(pushed + 1) + " waits for a push that never comes"
                  : "push " + std::to_string(popped + 1) + " is never popped";
    findings.add(DiagId::QueueUnbalanced,
                 operationOn(kernel, execution, isMissing ? Event::Pop : Event::Push, queue),
                 {kernel.queues[queue].name, what});
  }
}

// A side with some turns more than the others leaves out more of them at once. Then all leave out
// as much as the one that leaves out least, so that the rest of the others is seen, or nothing at
// all. Where that is too much to run, at least the numbers of pushes and pops are compared.
Execution runKernel(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges,
                    Findings &findings, size_t limit) {
  Execution first = runFunctions(kernel, inputs, ranges, findings, limit, INT64_MAX);
  if (isLeftOutTogether(first))
    return first;
  int64_t least = INT64_MAX;
  for (const Core &core : first.cores)
    // The smallest gap of all cores becomes the limit for each of them.
    least = core.leftOut ? std::min(least, core.leftOut) : least;
  Execution execution = runFunctions(kernel, inputs, ranges, findings, limit, least);
  if (execution.complete && isLeftOutTogether(execution))
    return execution;
  // As a last resort, all turns run.
  execution = runFunctions(kernel, inputs, ranges, findings, limit, 0);
  if (!execution.complete && first.complete && !first.excluded)
    reportUnbalanced(kernel, first, findings);
  return execution;
}

} // namespace ptl::prove
