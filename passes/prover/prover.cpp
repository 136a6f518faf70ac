#include "passes/prover/prover.h"

#include "passes/prover/hazards.h"
#include "passes/prover/instances.h"
#include "passes/prover/prove_kernel.h"
#include "passes/prover/read.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

namespace ptl::prove {

/// Judges `kernel` for the instances of `chosen`, the same kernel or another core group's.
static void proveKernel(const Kernel &kernel, const Kernel &chosen, const Machine &machine,
                        RangeTable &ranges, Findings &findings) {
  judgeQueues(kernel, machine, findings);
  auto judge = [&](const Inputs &inputs, const Execution &execution) {
    judgeExecution(kernel, inputs, execution, ranges, machine, findings);
  };
  std::vector<Inputs> instances = instancesOf(chosen);
  unsigned skipped = findings.result().skipped, tried = findings.result().instances;
  forEachExecution(kernel, instances, ranges, findings, judge,
                   chosen.byHand ? Effort::Most : Effort::All);
  // By hand, sizes that take too long to try are told as such as long as others were tried.
  if (chosen.byHand && tried == findings.result().instances)
    forEachExecution(kernel, instances, ranges, findings, judge);
  skipped = findings.result().skipped - skipped;
  if (skipped)
    findings.undecided(kernel.functions.front().op,
                       std::to_string(skipped) + " of the sizes that were to be tried for `" +
                           kernel.name + "` take too many operations together");
  if (!chosen.byHand)
    return;
  // What a person wrote may differ in any turn: more are tried, as far as there is time.
  std::vector<Inputs> more = instancesOf(chosen, /*thorough=*/true);
  std::erase_if(more, [&](const Inputs &each) { return llvm::is_contained(instances, each); });
  forEachExecution(kernel, more, ranges, findings, judge, Effort::WhatFits);
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

void ProofResult::add(ProofResult other) {
  findings.insert(findings.end(), other.findings.begin(), other.findings.end());
  undecided.insert(undecided.end(), other.undecided.begin(), other.undecided.end());
  instances += other.instances;
  skipped += other.skipped;
  if (untried == 0)
    firstUntried = std::move(other.firstUntried);
  untried += other.untried;
  events += other.events;
}

struct Proved::Memory {
  struct Entry {
    Kernel kernel;
    unsigned instances;
    uint64_t events;
  };
  std::vector<Entry> entries;
  RangeTable ranges;
};
Proved::Proved() : memory_(std::make_unique<Memory>()) {}
Proved::~Proved() = default;

ProofResult proveBlock(mlir::ModuleOp module, const Machine &machine, Proved *proved) {
  Findings findings;
  Proved own;
  auto &[entries, ranges] = *(proved ? proved : &own)->memory_;
  ProofResult &result = findings.result();
  std::vector<Kernel> kernels = readKernels(module, machine, findings);
  std::vector<Proved::Memory::Entry> now;
  for (Kernel &kernel : kernels) {
    auto known =
        llvm::find_if(entries, [&](const auto &entry) { return entry.kernel.isLike(kernel); });
    if (known != entries.end()) {
      result.instances += known->instances;
      result.events += known->events;
      continue;
    }
    unsigned instances = result.instances;
    uint64_t events = result.events;
    proveKernel(kernel, kernel, machine, ranges, findings);
    if (!kernel.byHand)
      now.push_back({std::move(kernel), result.instances - instances, result.events - events});
  }
  if (result.proved())
    std::move(now.begin(), now.end(), std::back_inserter(entries));
  // Every point is to begin and end alike: by hand it may go by which one it is, and another core
  // group has others, of the same sizes.
  if (module->hasAttr("ptl.manual") && findings.faults() == 0) {
    std::vector<Kernel> others = readKernels(module, machine, findings, /*group=*/1, /*groups=*/2);
    for (size_t i = 0; i < others.size(); ++i)
      proveKernel(others[i], kernels[i], machine, ranges, findings);
  }
  dropConsequences(result);
  return std::move(result);
}

} // namespace ptl::prove
