#include "passes/prover/prover.h"

#include "passes/prover/hazards.h"
#include "passes/prover/instances.h"
#include "passes/prover/read.h"

#include "mlir/IR/Operation.h"

#include <unordered_set>

namespace ptl::prove {

static constexpr size_t kEventsPerInstance = 60000;
static constexpr uint64_t kEventsPerKernel = 160000;

static std::string describe(const Kernel &kernel, const Inputs &inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    text += text.empty() ? "" : ", ";
    text += (kernel.inputs[i].data ? "data" : kernel.inputs[i].name) + " = " +
            std::to_string(inputs[i]);
  }
  return text;
}

// Later faults of an execution that does not end, or whose signals are lost, are consequences.
static void judge(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
                  const Machine &machine, const std::string &with, Findings &findings) {
  Order order = orderOf(kernel, execution, machine.vectorBarrier);
  Case judged{kernel, execution, order, ranges, findings, with};
  judgePlaces(judged, machine);
  judgeSync(judged);
  if (!order.finished || !order.faults.empty())
    return;
  judgeTiles(judged);
  judgeSlots(judged);
  judgeGlobal(judged);
}

static uint64_t eventsOf(const Execution &execution) {
  uint64_t events = 0;
  for (const Core &core : execution.cores)
    events += core.events.size();
  return events;
}

static void proveKernel(const Kernel &kernel, const Machine &machine, Findings &findings) {
  judgeQueues(kernel, machine, findings);
  RangeTable ranges;
  std::unordered_set<uint64_t> seen;
  uint64_t used = 0;
  std::vector<Inputs> instances = instancesOf(kernel);
  size_t excluded = 0;
  for (size_t i = 0; i < instances.size(); ++i) {
    if (used > kEventsPerKernel) {
      findings.result().skipped += static_cast<unsigned>(instances.size() - i);
      break;
    }
    Execution execution = runKernel(kernel, instances[i], ranges, findings, kEventsPerInstance);
    used += eventsOf(execution);
    if (execution.excluded) {
      ++excluded;
      continue;
    }
    if (!execution.complete) {
      findings.undecided(kernel.functions.front().op, "`" + kernel.name + "` takes more than " +
                                                          std::to_string(kEventsPerInstance) +
                                                          " operations with " +
                                                          describe(kernel, instances[i]));
      continue;
    }
    if (!seen.insert(execution.hash).second)
      continue;
    ++findings.result().instances;
    findings.result().events += eventsOf(execution);
    judge(kernel, execution, ranges, machine, describe(kernel, instances[i]), findings);
  }
  if (excluded > 0 && excluded == instances.size())
    findings.undecided(kernel.functions.front().op, "none of the sizes that were tried for `" +
                                                        kernel.name + "` meets what it requires");
}

// A missing order that two others would give. Those that are dropped support no others, so that of
// a circle something stays.
static bool follows(const std::vector<Finding> &findings, const std::vector<bool> &dropped,
                    const Finding &last) {
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding &one = findings[i];
    if (dropped[i] || one.first != last.first || one.operation == last.operation ||
        one.operation == last.first)
      continue;
    for (size_t j = 0; j < findings.size(); ++j) {
      const Finding &two = findings[j];
      if (!dropped[j] && two.first == one.operation && two.operation == last.operation &&
          one.earlierTurn + two.earlierTurn <= last.earlierTurn)
        return true;
    }
  }
  return false;
}

// Where a buffer is overwritten, the missing orders between its users and those of the other buffer
// say the same again.
static void dropConsequences(ProofResult &result) {
  bool overwritten = false;
  for (const Finding &finding : result.findings)
    overwritten |= finding.id == DiagId::ValueOverwritten;
  if (overwritten)
    std::erase_if(result.findings, [](const Finding &finding) { return finding.sharedBytes; });
  std::vector<bool> dropped(result.findings.size());
  for (size_t i = 0; i < dropped.size(); ++i)
    dropped[i] = result.findings[i].first && follows(result.findings, dropped, result.findings[i]);
  size_t index = 0;
  std::erase_if(result.findings, [&](const Finding &) { return dropped[index++]; });
}

ProofResult proveBlock(mlir::ModuleOp module, const Machine &machine) {
  Findings findings;
  for (const Kernel &kernel : readKernels(module, machine, findings))
    proveKernel(kernel, machine, findings);
  dropConsequences(findings.result());
  return std::move(findings.result());
}

} // namespace ptl::prove
