#include "passes/prover/mutate.h"

#include "passes/prover/hazards.h"
#include "passes/prover/prove_kernel.h"
#include "passes/prover/read.h"
#include "passes/prover/shuffle.h"

#include "ir/dialect/cross_core.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

#include <ctime>
#include <set>

using namespace mlir;

namespace ptl::prove {

/// Of how many executions that a change leaves different interleavings are tried; how many of each,
/// by their length: so many events in all.
static constexpr size_t kShuffledInstances = 10;
static constexpr uint64_t kFewestShuffles = 4, kMostShuffles = 12, kShuffledEvents = 40000;

static bool isSync(Operation *op) {
  return isa<pto::SetFlagOp, pto::WaitFlagOp, pto::SetFlagDynOp, pto::WaitFlagDynOp, pto::SyncSetOp,
             pto::SyncWaitOp, pto::BarrierOp, pto::TPushOp, pto::TPopOp, pto::TFreeOp>(op);
}
static bool isBuffer(Operation *op) { return isa<pto::AllocTileOp, pto::AllocMultiTileOp>(op); }
/// Whether moving something across it can matter.
static bool matters(Operation *op) {
  return isSync(op) || pto::pipeOf(op) || op->getNumRegions() > 0;
}

static std::vector<Operation *> operationsOf(ModuleOp module) {
  std::vector<Operation *> operations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
  return operations;
}

// ---- one change
// -------------------------------------------------------------------------------------------

static Value addressOf(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getAddr();
  return cast<pto::AllocMultiTileOp>(op).getAddr();
}

static void setAddress(Operation *op, Value address) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    alloc.getAddrMutable().assign(address);
  else
    cast<pto::AllocMultiTileOp>(op).getAddrMutable().assign(address);
}

static pto::TileBufType tileOf(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getType();
  return cast<pto::AllocMultiTileOp>(op).getType().getSlot();
}

static std::optional<int64_t> constantAddress(Operation *op) {
  Value address = addressOf(op);
  if (!address)
    return std::nullopt;
  if (auto constant = address.getDefiningOp<arith::ConstantIntOp>())
    return constant.value();
  return std::nullopt;
}

namespace {

/// A fault that is made in a module and taken back.
struct Change {
  enum Kind { Remove, Up, Down, Move };

  Change(Kind kind, Operation *op, int64_t place = 0, std::string name = "")
      : kind(kind), op(op), place(place), name(std::move(name)) {}

  Kind kind;
  Operation *op;
  int64_t place;    ///< Move: the address
  std::string name; ///< Move: of the buffer

  /// False, and nothing changed: not possible here.
  bool apply();
  void undo();

private:
  bool shift(bool down);

  Block *block = nullptr;
  Operation *next = nullptr; ///< what it stood before
  Value address;             ///< what it had
};

} // namespace

// Up or down across the next operation that matters; false if there is none, or if it would leave
// its operands behind.
bool Change::shift(bool down) {
  Operation *target = down ? op->getNextNode() : op->getPrevNode();
  while (target && !matters(target))
    target = down ? target->getNextNode() : target->getPrevNode();
  if (!target || target->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (down) {
    op->moveAfter(target);
    return true;
  }
  for (Value operand : op->getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (maker && maker->getBlock() == op->getBlock() && !maker->isBeforeInBlock(target))
      return false;
  }
  op->moveBefore(target);
  return true;
}

bool Change::apply() {
  block = op->getBlock();
  next = op->getNextNode();
  if (kind == Up || kind == Down)
    return shift(kind == Down);
  if (kind == Remove) {
    op->remove();
    return true;
  }
  address = addressOf(op);
  OpBuilder builder(op);
  Value constant = builder.create<arith::ConstantIntOp>(op->getLoc(), place, 64);
  setAddress(op, constant);
  if (succeeded(verify(op)))
    return true;
  undo();
  return false;
}

void Change::undo() {
  if (kind == Move) {
    Operation *constant = addressOf(op).getDefiningOp();
    setAddress(op, address);
    constant->erase();
    return;
  }
  if (kind != Remove)
    op->remove();
  block->getOperations().insert(next ? Block::iterator(next) : block->end(), op);
}

// ---- all changes
// ------------------------------------------------------------------------------------------

static std::string textOf(const Change &change) {
  switch (change.kind) {
  case Change::Remove:
    return "without " + withPlace(change.op);
  case Change::Up:
    return withPlace(change.op) + " moved up";
  case Change::Down:
    return withPlace(change.op) + " moved down";
  case Change::Move:
    return "`" + change.name + "` at byte " + std::to_string(change.place) + " instead of " +
           std::to_string(*constantAddress(change.op));
  }
  return "";
}

static void addBufferChanges(Operation *op, const std::vector<Operation *> &all,
                             std::vector<Change> &changes) {
  auto address = constantAddress(op);
  if (!address)
    return;
  std::set<int64_t> places = {*address + tileOf(op).getBytes(), *address - tileOf(op).getBytes()};
  for (Operation *other : all)
    if (other != op && isBuffer(other) && tileOf(other).getPlace() == tileOf(op).getPlace() &&
        other->getParentOfType<func::FuncOp>() == op->getParentOfType<func::FuncOp>())
      if (auto there = constantAddress(other))
        places.insert(*there);
  places.erase(*address);
  std::string name = nameOf(op);
  for (int64_t place : places)
    changes.emplace_back(Change::Move, op, place, name);
}

static std::vector<Change> changesOf(ModuleOp module) {
  std::vector<Change> changes;
  std::vector<Operation *> operations = operationsOf(module);
  for (Operation *op : operations) {
    if (isSync(op))
      for (Change::Kind kind : {Change::Remove, Change::Up, Change::Down})
        changes.emplace_back(kind, op);
    else if (isBuffer(op))
      addBufferChanges(op, operations, changes);
  }
  return changes;
}

// ---- verdicts
// ---------------------------------------------------------------------------------------------

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
  std::vector<Case> cases;   ///< from small to large
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
  /// The change moves a push or a pop: what it hands over is the value of where it stands now.
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
    forEachExecution(original.kernel, original.ranges, ignored,
                     [&](const Inputs &inputs, const Execution &execution) {
                       original.order.push_back(original.cases.size());
                       original.cases.push_back(
                           {inputs, fingerprint(original.kernel, execution), {}});
                     });
  }
}

// Of what has findings of its own everything is judged, to see what is new.
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
      const Original::Case &tried = original.cases[index];
      Execution execution =
          runKernel(mutants[k], tried.inputs, original.ranges, findings, kEventsPerInstance);
      bool isNew = !findings.result().findings.empty();
      if (!isNew && execution.complete && !execution.excluded &&
          fingerprint(mutants[k], execution) == tried.fingerprint)
        continue;
      changed[k].push_back(index);
      if (known_.empty() && !isNew)
        judgeExecution(mutants[k], tried.inputs, execution, original.ranges, machine_, findings,
                       /*firstOnly=*/true);
      if (!known_.empty() || findings.result().findings.empty())
        continue;
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
  size_t step = (changed.size() + kShuffledInstances - 1) / kShuffledInstances;
  uint64_t turn = 0;
  for (size_t i = changed.size() - 1; i < changed.size(); i -= step) {
    Original::Case &tried = original.cases[changed[i]];
    auto execute = [&](const Kernel &kernel) {
      return runKernel(kernel, tried.inputs, original.ranges, ignored, kEventsPerInstance);
    };
    if (!tried.outcome)
      tried.outcome =
          Shuffler(original.kernel, execute(original.kernel), original.ranges, machine_).inOrder();
    Execution execution = execute(mutant);
    Shuffler shuffler(mutant, execution, original.ranges, machine_);
    Outcome expected = *tried.outcome;
    if (movesTile_)
      if (Outcome own = shuffler.inOrder(); own.ended && own.clear && !(own == expected)) {
        isAnother_ = true;
        expected = own;
      }
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
                                        kEventsPerInstance)) != original.cases[i].fingerprint)
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
  movesTile_ = isa<pto::TPushOp, pto::TPopOp>(change.op) &&
               (change.kind == Change::Up || change.kind == Change::Down);
  bool same = sameInAnyOrder(changed);
  return {"", !same ? "survived" : isAnother_ ? "another" : "harmless", ""};
}

MutationReport Mutator::run() {
  MutationReport report;
  for (Change &change : changesOf(module_)) {
    std::string text = textOf(change);
    if (!change.apply())
      continue;
    std::clock_t start = std::clock();
    std::vector<std::vector<size_t>> changed;
    std::optional<Finding> found = judge(changed);
    report.seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    MutantReport entry{"", "killed", found ? found->code() : ""};
    if (!found)
      entry = verdictOf(change, changed);
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
