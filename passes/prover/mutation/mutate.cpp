#include "passes/prover/mutation/mutate.h"

#include "passes/prover/hazards.h"
#include "passes/prover/instances.h"
#include "passes/prover/mutation/changes.h"
#include "passes/prover/mutation/shuffle.h"
#include "passes/prover/places.h"
#include "passes/prover/prove_kernel.h"
#include "passes/prover/read.h"

#include <ctime>
#include <set>

using namespace mlir;

namespace ptl::prove {

/// The number of executions changed by a mutation for which interleavings are tried. The number of
/// interleavings of each depends on its length, so that all of them have a fixed number of events.
static constexpr size_t kShuffledInstances = 10;
static constexpr uint64_t kFewestShuffles = 4, kMostShuffles = 12, kShuffledEvents = 40000;

// ---- verdicts -----------------------------------------------------------------------------------

static std::string keyOf(const Finding &finding) {
  return finding.code() + finding.message() + placeText(finding.location);
}

namespace {

/// A kernel as it is, with what is judged of it. Changes leave its inputs as they are.
struct Original {
  struct Case {
    Inputs inputs;
    uint64_t fingerprint;
    std::optional<Outcome> outcome; ///< in program order, once it was asked for
  };
  Kernel kernel;
  RangeTable ranges;
  std::vector<Case> cases;   ///< those that the prover judges, from small to large; then others
  size_t judged = 0;         ///< how many it judges
  std::vector<size_t> order; ///< that have shown faults, the last one first; then the others
};

class Mutator {
public:
  Mutator(ModuleOp module, const Machine &machine, bool confirm);
  MutationReport run();

private:
  /// The first finding that the module does not have as it was; nothing if there is none.
  /// `changed`: of each kernel the cases whose execution is another one.
  std::optional<Finding> judge(std::vector<std::vector<size_t>> &changed);
  std::optional<Finding> judgeAll();
  std::vector<std::vector<size_t>> changedCases();
  bool sameInAnyOrder(const std::vector<std::vector<size_t>> &changed);
  bool sameInAnyOrder(Original &original, const Kernel &mutant, const std::vector<size_t> &changed);
  MutantReport verdictOf(Change &change, std::vector<std::vector<size_t>> changed);

  ModuleOp module_;
  const Machine &machine_;
  bool confirm_;
  std::set<std::string> known_; ///< findings of the module as it is
  std::vector<Original> originals_;
  /// The change is of values, too: what is right then is what it gives in program order.
  bool movesTile_ = false, isAnother_ = false;
};

} // namespace

Mutator::Mutator(ModuleOp module, const Machine &machine, bool confirm)
    : module_(module), machine_(machine), confirm_(confirm) {
  for (const Finding &finding : proveBlock(module, machine).findings)
    known_.insert(keyOf(finding));
  Findings ignored;
  for (Kernel &kernel : readKernels(module, machine, ignored)) {
    Original &original = originals_.emplace_back();
    original.kernel = std::move(kernel);
    // The prover's own come first; where only the others differ, they show what it does not see.
    auto add = [&](const Inputs &inputs, const Execution &execution) {
      uint64_t found = fingerprint(original.kernel, execution);
      bool isThere =
          llvm::any_of(original.cases, [&](const Original::Case &c) { return c.inputs == inputs; });
      if (!isThere)
        original.cases.push_back({inputs, found, {}});
    };
    // The thorough instances are only used to show what the prover's own instances overlook.
    for (bool thorough : {false, true}) {
      forEachExecution(original.kernel, instancesOf(original.kernel, thorough), original.ranges,
                       ignored, add);
      if (!thorough)
        original.judged = original.cases.size();
    }
    for (size_t i = 0; i < original.cases.size(); ++i)
      original.order.push_back(i);
  }
}

// A module that has findings before the mutation is judged as a whole, to see which ones are new.
std::optional<Finding> Mutator::judgeAll() {
  for (Finding &finding : proveBlock(module_, machine_).findings)
    if (!known_.count(keyOf(finding)))
      return std::move(finding);
  return std::nullopt;
}

std::optional<Finding> Mutator::judge(std::vector<std::vector<size_t>> &changed) {
  Findings findings;
  std::vector<Kernel> mutants = readKernels(module_, machine_, findings);
  changed.resize(mutants.size());
  for (size_t k = 0; k < mutants.size(); ++k) {
    Original &original = originals_[k];
    judgeQueues(mutants[k], machine_, findings);
    for (size_t at = 0; at < original.order.size(); ++at) {
      size_t index = original.order[at];
      // Cases that have killed mutants before are tried first, since they are likely to kill the
      // next one.
      const Original::Case &tried = original.cases[index];
      bool isJudged = index < original.judged;
      Findings ignored;
      Execution execution = runKernel(mutants[k], tried.inputs, original.ranges,
                                      isJudged ? findings : ignored, eventsPerInstance(mutants[k]));
      bool isNew = !findings.result().findings.empty();
      // An execution with the same fingerprint is the original's, whatever the mutation was.
      if (!isNew && execution.complete && !execution.excluded &&
          fingerprint(mutants[k], execution) == tried.fingerprint)
        continue;
      changed[k].push_back(index);
      // A module that had findings is judged as a whole at the end, where new ones can be told from
      // old ones.
      if (known_.empty() && !isNew && isJudged)
        judgeExecution(mutants[k], tried.inputs, execution, original.ranges, machine_, findings,
                       /*firstOnly=*/true);
      if (!known_.empty() || findings.result().findings.empty())
        continue;
      // The case moves to the front of the order.
      std::rotate(original.order.begin(), original.order.begin() + static_cast<std::ptrdiff_t>(at),
                  original.order.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      if (confirm_)
        changed = changedCases();
      return std::move(findings.result().findings.front());
    }
  }
  if (known_.empty() && !findings.result().findings.empty())
    return std::move(findings.result().findings.front());
  return known_.empty() ? std::nullopt : judgeAll();
}

// From large to small, evenly.
bool Mutator::sameInAnyOrder(Original &original, const Kernel &mutant,
                             const std::vector<size_t> &changed) {
  Findings ignored;
  // At most `kShuffledInstances` cases are taken, at even distances.
  size_t step = (changed.size() + kShuffledInstances - 1) / kShuffledInstances;
  uint64_t turn = 0;
  // The unsigned index wraps below zero, which ends the loop.
  for (size_t i = changed.size() - 1; i < changed.size(); i -= step) {
    Original::Case &tried = original.cases[changed[i]];
    auto execute = [&](const Kernel &kernel) {
      return runKernel(kernel, tried.inputs, original.ranges, ignored, eventsPerInstance(kernel));
    };
    if (!tried.outcome)
      tried.outcome =
          Shuffler(original.kernel, execute(original.kernel), original.ranges, machine_).inOrder();
    Execution execution = execute(mutant);
    Shuffler shuffler(mutant, execution, original.ranges, machine_);
    Outcome expected = *tried.outcome;
    // A moved tile changes the values, so the mutant's own program order is what is right for it.
    if (movesTile_)
      if (Outcome own = shuffler.inOrder(); own.ended && own.clear && !(own == expected)) {
        isAnother_ = true;
        expected = own;
      }
    // Long executions get fewer interleavings, so that the total work stays the same.
    uint64_t turns = std::clamp(kShuffledEvents / kShuffledInstances / (eventsOf(execution) + 1),
                                kFewestShuffles, kMostShuffles);
    for (uint64_t last = turn + turns; turn < last; ++turn)
      if (!(shuffler.shuffled(turn) == expected))
        return false;
  }
  return true;
}

std::vector<std::vector<size_t>> Mutator::changedCases() {
  Findings ignored;
  std::vector<std::vector<size_t>> changed;
  for (const Kernel &mutant : readKernels(module_, machine_, ignored)) {
    Original &original = originals_[changed.size()];
    std::vector<size_t> &cases = changed.emplace_back();
    for (size_t i = 0; i < original.cases.size(); ++i)
      if (fingerprint(mutant, runKernel(mutant, original.cases[i].inputs, original.ranges, ignored,
                                        eventsPerInstance(mutant))) !=
          original.cases[i].fingerprint)
        cases.push_back(i);
  }
  return changed;
}

bool Mutator::sameInAnyOrder(const std::vector<std::vector<size_t>> &changed) {
  Findings ignored;
  std::vector<Kernel> mutants = readKernels(module_, machine_, ignored);
  for (size_t k = 0; k < mutants.size(); ++k) {
    std::vector<size_t> fromSmall = changed[k];
    llvm::sort(fromSmall);
    if (!fromSmall.empty() && !sameInAnyOrder(originals_[k], mutants[k], fromSmall))
      return false;
  }
  return true;
}

MutantReport Mutator::verdictOf(Change &change, std::vector<std::vector<size_t>> changed) {
  isAnother_ = false;
  movesTile_ = change.changesValues();
  bool same = sameInAnyOrder(changed);
  return {"", !same ? "survived" : isAnother_ ? "another" : "harmless", ""};
}

MutationReport Mutator::run() {
  MutationReport report;
  for (Change &change : changesOf(module_)) {
    std::string text = change.text();
    if (!change.apply())
      // A change that cannot be made, or that would make invalid code, is no mutant.
      continue;
    std::clock_t start = std::clock();
    std::vector<std::vector<size_t>> changed;
    std::optional<Finding> found = judge(changed);
    report.seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    MutantReport entry{"", "killed", found ? found->code() : ""};
    if (!found)
      entry = verdictOf(change, changed);
    // The killed mutants are run as well, to find those that no interleaving shows (`--confirm`).
    else if (movesTile_ = false; confirm_ && sameInAnyOrder(changed))
      entry.verdict = "strict";
    report.killed += found.has_value();
    report.strict += entry.verdict == "strict";
    report.harmless += entry.verdict == "harmless";
    report.another += entry.verdict == "another";
    report.survived += entry.verdict == "survived";
    entry.change = std::move(text);
    report.mutants.push_back(std::move(entry));
    change.undo();
  }
  return report;
}

MutationReport mutate(ModuleOp module, const Machine &machine, bool confirm) {
  return Mutator(module, machine, confirm).run();
}

} // namespace ptl::prove
