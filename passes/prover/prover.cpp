#include "passes/prover/prover.h"

#include "ir/dialect/attributes.h"
#include "passes/prover/hazards.h"
#include "passes/prover/instances.h"
#include "passes/prover/places.h"
#include "passes/prover/prove_kernel.h"
#include "passes/prover/read.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

namespace ptl::prove {

/// Judges `kernel` for the instances of `chosen`, the same kernel or another core group's.
static void proveKernel(const Kernel &kernel, const Kernel &chosen, const Machine &machine,
                        RangeTable &ranges, Findings &findings) {
  // Queues are judged once for the kernel, because they do not depend on the instance.
  judgeQueues(kernel, machine, findings);
  auto judge = [&](const Inputs &inputs, const Execution &execution) {
    judgeExecution(kernel, inputs, execution, ranges, machine, findings);
  };
  std::vector<Inputs> instances = instancesOf(chosen);
  unsigned skipped = findings.result().skipped, tried = findings.result().instances;
  forEachExecution(kernel, instances, ranges, findings, judge,
                   chosen.byHand ? Effort::Most : Effort::All);
  // For kernels written by hand, sizes that need too many operations are only counted. If no other
  // size could be tried, they are reported as not proved.
  // Only instances that add to the count have been tried.
  if (chosen.byHand && tried == findings.result().instances)
    forEachExecution(kernel, instances, ranges, findings, judge);
  skipped = findings.result().skipped - skipped;
  if (skipped)
    findings.undecided(kernel.functions.front().op,
                       std::to_string(skipped) + " of the sizes to be tested for `" + kernel.name +
                           "` together need too many operations");
  // Iterations of kernels that the compiler has made are alike, so the chosen sizes suffice.
  if (!chosen.byHand)
    return;
  // Code written by hand may differ in any iteration, so more sizes are tried, as far as there is
  // time.
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
    // The missing order from `first` to `last` follows if one from `first` to some operation, and
    // one from there to `last`, are missing too.
    if (dropped[i] || one.first != last.first || one.operation == last.operation ||
        one.operation == last.first)
      continue;
    for (size_t j = 0; j < findings.size(); ++j) {
      const Finding &two = findings[j];
      if (!dropped[j] && two.first == one.operation && two.operation == last.operation &&
          // Orders between turns add up: the two together must not be looser than the one.
          one.earlierTurn + two.earlierTurn <= last.earlierTurn)
        return true;
    }
  }
  return false;
}

// Removes findings that only follow from others: if a buffer is overwritten, orders are missing
// between its users and those of the other buffer, too.
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
  // The first size that was left out in any module stands for all.
  if (untried == 0)
    firstUntried = std::move(other.firstUntried);
  untried += other.untried;
  events += other.events;
}

namespace {

/// The proof of one module.
struct Proof {
  mlir::ModuleOp module;
  Findings findings = {};
  std::vector<Kernel> kernels = {};
  Proof *original = nullptr; ///< whose kernels are like these; null: there is none before
};

} // namespace

static void run(Proof &proof, const Machine &machine) {
  RangeTable ranges;
  for (const Kernel &kernel : proof.kernels)
    proveKernel(kernel, kernel, machine, ranges, proof.findings);
  // Every point is to begin and end alike: by hand it may go by which one it is, and another core
  // group has others, of the same sizes.
  if (!attrs::byHand.isOn(proof.module) || proof.findings.faults() > 0)
    return;
  std::vector<Kernel> others =
      // The second of two core groups gets other points of the grid.
      readKernels(proof.module, machine, proof.findings, /*group=*/1, /*groups=*/2);
  for (size_t i = 0; i < others.size(); ++i)
    proveKernel(others[i], proof.kernels[i], machine, ranges, proof.findings);
}

/// Whether what is found of one holds of the other. Kernels by hand are judged each by itself.
static bool areAlike(const Proof &one, const Proof &two) {
  return llvm::equal(one.kernels, two.kernels, [](const Kernel &a, const Kernel &b) {
    return !a.byHand && !b.byHand && a.isLike(b);
  });
}

static int64_t sizeOf(const Proof *proof) {
  int64_t size = 0;
  for (const Kernel &kernel : proof->kernels)
    size += kernel.size;
  return size;
}

/// Each by one of so many threads. Nothing in a module is changed, so all may read it. The longest
/// come first: one that came last would keep the other threads waiting.
static void runAll(std::vector<Proof *> proofs, const Machine &machine) {
  std::stable_sort(proofs.begin(), proofs.end(),
                   [](const Proof *a, const Proof *b) { return sizeOf(a) > sizeOf(b); });
  constexpr unsigned most = 8;
  unsigned threads = std::min<unsigned>(std::thread::hardware_concurrency(), most);
  threads = std::min(threads, static_cast<unsigned>(proofs.size()));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < proofs.size(); i = next++)
      run(*proofs[i], machine);
  };
  std::vector<std::thread> others;
  // This thread works too.
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &each : others)
    each.join();
}

std::vector<ProofResult> proveBlocks(llvm::ArrayRef<mlir::ModuleOp> modules,
                                     const Machine &machine) {
  std::deque<Proof> proofs;
  std::vector<Proof *> first, again;
  for (mlir::ModuleOp module : modules) {
    Proof &proof = proofs.emplace_back(Proof{module});
    proof.kernels = readKernels(module, machine, proof.findings);
    auto known = llvm::find_if(first, [&](Proof *each) { return areAlike(*each, proof); });
    // A kernel with findings while it was read is not like any other.
    if (proof.findings.empty() && known != first.end())
      proof.original = *known;
    else
      first.push_back(&proof);
  }
  runAll(first, machine);
  // A kernel that equals one with findings is proved itself, so that findings have its own places.
  for (Proof &proof : proofs)
    if (proof.original && !proof.original->findings.result().proved())
      again.push_back(&proof);
  runAll(again, machine);
  std::vector<ProofResult> results;
  for (Proof &proof : proofs) {
    ProofResult &result = proof.findings.result();
    // The results of the one that was proved hold for this one.
    if (proof.original && proof.original->findings.result().proved()) {
      result.instances = proof.original->findings.result().instances;
      result.events = proof.original->findings.result().events;
    }
    dropConsequences(result);
  }
  for (Proof &proof : proofs)
    results.push_back(std::move(proof.findings.result()));
  return results;
}

ProofResult proveBlock(mlir::ModuleOp module, const Machine &machine) {
  return std::move(proveBlocks(module, machine).front());
}

} // namespace ptl::prove
