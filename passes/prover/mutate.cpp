#include "passes/prover/mutate.h"

#include "passes/prover/instances.h"
#include "passes/prover/read.h"
#include "passes/prover/shuffle.h"

#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Verifier.h"

#include <ctime>

using namespace mlir;

namespace ptl::prove {

static constexpr unsigned kShuffles = 12;
static constexpr size_t kShuffledInstances = 10;

static bool isSync(Operation *op) {
  return isa<pto::SetFlagOp, pto::WaitFlagOp, pto::SetFlagDynOp, pto::WaitFlagDynOp, pto::BarrierOp,
             pto::TPushOp, pto::TPopOp, pto::TFreeOp>(op);
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

// Up or down across the next operation that matters; false if there is none, or if it would leave
// its operands behind.
static bool shift(Operation *op, bool down) {
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

static Value addressOf(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getAddr();
  return cast<pto::AllocMultiTileOp>(op).getAddr();
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

static void moveTo(Operation *op, int64_t address) {
  OpBuilder builder(op);
  Value constant = builder.create<arith::ConstantIntOp>(op->getLoc(), address, 64);
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    alloc.getAddrMutable().assign(constant);
  else
    cast<pto::AllocMultiTileOp>(op).getAddrMutable().assign(constant);
}

// ---- all changes
// ------------------------------------------------------------------------------------------

namespace {

struct Change {
  size_t operation; ///< in pre-order
  std::string text;
  std::function<bool(Operation *)> apply; ///< false: not possible here
};

} // namespace

static void addSyncChanges(Operation *op, size_t index, std::vector<Change> &changes) {
  std::string name = withPlace(op);
  changes.push_back({index, "without " + name, [](Operation *op) {
                       op->erase();
                       return true;
                     }});
  changes.push_back({index, name + " moved up", [](Operation *op) { return shift(op, false); }});
  changes.push_back({index, name + " moved down", [](Operation *op) { return shift(op, true); }});
}

static void addBufferChanges(Operation *op, size_t index, const std::vector<Operation *> &all,
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
  for (int64_t place : places)
    changes.push_back({index,
                       "`" + nameOf(op) + "` at byte " + std::to_string(place) + " instead of " +
                           std::to_string(*address),
                       [place](Operation *op) {
                         moveTo(op, place);
                         return true;
                       }});
}

static std::vector<Change> changesOf(ModuleOp module) {
  std::vector<Change> changes;
  std::vector<Operation *> operations = operationsOf(module);
  for (size_t i = 0; i < operations.size(); ++i) {
    if (isSync(operations[i]))
      addSyncChanges(operations[i], i, changes);
    else if (isBuffer(operations[i]))
      addBufferChanges(operations[i], i, operations, changes);
  }
  return changes;
}

// ---- verdicts
// ---------------------------------------------------------------------------------------------

bool sameInAnyOrder(ModuleOp original, ModuleOp mutant, const Machine &machine, unsigned shuffles) {
  Findings ignored;
  std::vector<Kernel> before = readKernels(original, machine, ignored),
                      after = readKernels(mutant, machine, ignored);
  for (size_t k = 0; k < before.size(); ++k) {
    RangeTable rangesBefore, rangesAfter;
    std::vector<Inputs> instances = instancesOf(before[k]);
    // Evenly from small to large.
    size_t step = (instances.size() + kShuffledInstances - 1) / kShuffledInstances;
    for (size_t i = instances.size() - 1; i < instances.size(); i -= step) {
      Execution good = runKernel(before[k], instances[i], rangesBefore, ignored, 4000);
      Execution tried = runKernel(after[k], instances[i], rangesAfter, ignored, 4000);
      if (!good.complete || !tried.complete)
        continue;
      Outcome expected = runInOrder(before[k], good, rangesBefore);
      for (unsigned s = 0; s < shuffles; ++s)
        if (!(runShuffled(after[k], tried, rangesAfter, machine.vectorBarrier, s * 7919 + i) ==
              expected))
          return false;
    }
  }
  return true;
}

static std::string keyOf(const Finding &finding) {
  return finding.code() + finding.message() + placeText(finding.location);
}

MutationReport mutate(ModuleOp module, const Machine &machine, bool confirm) {
  MutationReport report;
  std::set<std::string> known;
  for (const Finding &finding : proveBlock(module, machine).findings)
    known.insert(keyOf(finding));
  for (const Change &change : changesOf(module)) {
    OwningOpRef<ModuleOp> mutant = module.clone();
    if (!change.apply(operationsOf(*mutant)[change.operation]) || failed(verify(*mutant)))
      continue;
    std::clock_t start = std::clock();
    ProofResult result = proveBlock(*mutant, machine);
    report.seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    MutantReport entry{change.text, "killed", ""};
    auto found = llvm::find_if(
        result.findings, [&](const Finding &finding) { return !known.count(keyOf(finding)); });
    if (found != result.findings.end()) {
      entry.code = found->code();
      ++report.killed;
      if (confirm && sameInAnyOrder(module, *mutant, machine, kShuffles)) {
        entry.verdict = "strict";
        ++report.strict;
      }
    } else if (sameInAnyOrder(module, *mutant, machine, kShuffles)) {
      entry.verdict = "harmless";
      ++report.harmless;
    } else {
      entry.verdict = "survived";
      ++report.survived;
    }
    report.mutants.push_back(std::move(entry));
  }
  return report;
}

} // namespace ptl::prove
