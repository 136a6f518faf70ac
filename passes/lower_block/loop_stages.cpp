#include "passes/lower_block/loop_stages.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/meetings.h"
#include "passes/lower_block/plan_queues.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {

/// Operations whose inputs have crossed at least this often belong to the stage behind.
constexpr int64_t kBehind = 2;

bool isTile(Type type) { return isa<ArrayType>(type); }

enum class Owner : uint8_t { Shared, Cube, Vector };

/// How often the inputs of a value have crossed between the cores within an iteration.
struct Depth {
  int64_t crossings = 0;
  Owner owner = Owner::Shared; ///< the core that makes the value
};

class Splitter {
public:
  Splitter(scf::ForOp loop, const CoreAssignment &cores)
      : loop_(loop), body_(loop.getBody()), cores_(cores) {}

  bool findDepths();
  bool mark(CoreKind core);
  void write(int64_t turns);
  std::optional<LoopStages> read(CoreKind core);

private:
  std::optional<Owner> ownerOf(Operation *op) const;
  llvm::SmallVector<Value> operandsOf(Operation *op) const;
  bool findOwners();
  bool isMemorySafe() const;
  bool passDepths();
  static Owner ownerFor(CoreKind core) {
    return core == CoreKind::Cube ? Owner::Cube : Owner::Vector;
  }
  Depth depthOf(Value value) const { return depths_.lookup(value); }
  Owner sideOf(Value argument) const {
    return cores_.isAccumulator(argument) ? Owner::Cube : Owner::Vector;
  }
  int64_t crossingsOf(Operation *op) const;
  void findStages(Owner own);
  bool placeVariables(Owner own, LoopStages &stages);
  bool placeOperations(Owner own, LoopStages &stages);
  bool isMade(Value value, Owner own) const {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == body_ && owners_.lookup(op) == own;
  }

  scf::ForOp loop_;
  Block *body_;
  const CoreAssignment &cores_;
  llvm::DenseMap<Operation *, Owner> owners_;
  llvm::DenseMap<Value, Depth> depths_;
  llvm::DenseMap<Operation *, int> stages_; ///< of the operations of one core
  llvm::SmallVector<std::pair<Operation *, const char *>> marks_;
  bool isSplit_ = false; ///< Some core has operations in both stages.
};

/// The core that executes an operation; nullopt if it cannot be assigned to one.
std::optional<Owner> Splitter::ownerOf(Operation *op) const {
  // Effects must stay in the order of the rounds.
  if (isa<CheckOp, PrintOp, scf::WhileOp, ParallelOp>(op))
    return std::nullopt;
  if (op->getNumRegions()) {
    bool cube = false, vector = false, crosses = false;
    auto note = [&](Value value) {
      crosses |=
          llvm::is_contained(cores_.toCube, value) || llvm::is_contained(cores_.toVector, value);
    };
    op->walk([&](Operation *inner) {
      llvm::for_each(inner->getResults(), note);
      if (inner == op || isa<scf::YieldOp, scf::ForOp, scf::IfOp>(inner))
        return;
      if (isa<CheckOp, PrintOp, ParallelOp>(inner))
        crosses = true;
      std::optional<Owner> own = inner->getNumRegions() ? std::nullopt : ownerOf(inner);
      cube |= own == Owner::Cube;
      vector |= own == Owner::Vector;
    });
    // A region is moved as a whole, so all of it must belong to one core.
    if (crosses || cube == vector)
      return std::nullopt;
    return cube ? Owner::Cube : Owner::Vector;
  }
  if (cores_.cube.contains(op))
    return Owner::Cube;
  // The vector cores make the values that cross to the cube core, even those that each core could
  // read itself.
  if (llvm::any_of(op->getResults(),
                   [&](Value value) { return llvm::is_contained(cores_.toCube, value); }))
    return Owner::Vector;
  bool touchesTiles =
      llvm::any_of(op->getOperandTypes(), isTile) || llvm::any_of(op->getResultTypes(), isTile);
  if (isa<SliceOp, LoadOp, ZerosOp, OnesOp, FullOp, IndexOp, TransposeOp, CastOp, NewAxisOp, DimOp>(
          op))
    return Owner::Shared;
  return touchesTiles || isa<StoreOp>(op) ? Owner::Vector : Owner::Shared;
}

/// All operands, including what the regions of an operation use from outside.
llvm::SmallVector<Value> Splitter::operandsOf(Operation *op) const {
  llvm::SetVector<Value> all(op->operand_begin(), op->operand_end());
  if (op->getNumRegions())
    // What a region reads is needed as much as what the operation itself reads.
    getUsedValuesDefinedAbove(op->getRegions(), all);
  return llvm::to_vector(all);
}

bool Splitter::findOwners() {
  for (Operation &op : body_->without_terminator()) {
    std::optional<Owner> owner = ownerOf(&op);
    if (!owner)
      return false;
    owners_[&op] = *owner;
  }
  return true;
}

/// Whether each array that the loop writes is written by one store and read by none, so that stages
/// may reorder accesses.
bool Splitter::isMemorySafe() const {
  llvm::DenseMap<Value, unsigned> stores, loads;
  body_->walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      ++stores[store.getRef()];
    else if (auto load = dyn_cast<LoadOp>(op))
      ++loads[load.getRef()];
  });
  return llvm::all_of(
      stores, [&](const auto &entry) { return entry.second == 1 && !loads.contains(entry.first); });
}

int64_t Splitter::crossingsOf(Operation *op) const {
  int64_t most = 0;
  Owner own = owners_.lookup(op);
  for (Value operand : operandsOf(op)) {
    Depth depth = depthOf(operand);
    // A value that either core can compute itself does not cross.
    bool crosses = own != Owner::Shared && depth.owner != Owner::Shared && depth.owner != own;
    most = std::max(most, depth.crossings + crosses);
  }
  return most;
}

/// Propagates depths once through the body. False if no variable changed.
bool Splitter::passDepths() {
  for (Operation &op : body_->without_terminator()) {
    Depth depth{crossingsOf(&op), owners_.lookup(&op)};
    if (depth.owner == Owner::Shared)
      for (Value operand : op.getOperands())
        if (depth.owner == Owner::Shared)
          // A view belongs to the core that makes its source.
          depth.owner = depthOf(operand).owner;
    for (Value result : op.getResults())
      depths_[result] = depth;
  }
  bool changed = false;
  auto yield = cast<scf::YieldOp>(body_->getTerminator());
  for (auto [argument, value] : llvm::zip(loop_.getRegionIterArgs(), yield.getOperands())) {
    Depth &own = depths_[argument];
    // Depths only grow, so this terminates unless a variable crosses in each round.
    if (depthOf(value).crossings > own.crossings) {
      own.crossings = depthOf(value).crossings;
      changed = true;
    }
  }
  return changed;
}

bool Splitter::findDepths() {
  for (Value argument : loop_.getRegionIterArgs()) {
    // A variable that crosses would be needed in the stage ahead and made in the one behind.
    if (!isTile(argument.getType()) || cores_.crossesToCube(argument))
      return false;
    depths_[argument] = {0, sideOf(argument)};
  }
  if (!findOwners() || !isMemorySafe())
    return false;
  // A variable that goes to the other core and back in each round gets deeper without end.
  constexpr int rounds = 8;
  int round = 0;
  while (round < rounds && passDepths())
    ++round;
  if (round == rounds)
    return false;
  return llvm::any_of(owners_, [&](const auto &entry) {
    // Without an operation in the stage behind there is nothing to overlap.
    return entry.second != Owner::Shared && crossingsOf(entry.first) >= kBehind;
  });
}

/// The stage behind has the operations that depend on values which crossed twice, and those that
/// only such operations read, if they read nothing from the stage ahead.
void Splitter::findStages(Owner own) {
  stages_.clear();
  auto yield = cast<scf::YieldOp>(body_->getTerminator());
  llvm::SmallVector<Operation *> open;
  llvm::DenseSet<Operation *> wanted; // operations of the stage ahead
  auto want = [&](Operation *op) {
    if (op && op->getBlock() == body_ && wanted.insert(op).second)
      open.push_back(op);
  };
  for (Operation &op : body_->without_terminator()) {
    if (owners_.lookup(&op) != own)
      continue;
    stages_[&op] = crossingsOf(&op) >= kBehind;
    // A value that leaves the stage must be made in its turn; other operations are kept ahead only
    // if one of these needs them.
    bool leaves =
        op.getNumRegions() || isa<StoreOp>(op) || llvm::any_of(op.getResults(), [&](Value value) {
          return llvm::is_contained(cores_.toCube, value) ||
                 llvm::is_contained(cores_.toVector, value) ||
                 llvm::is_contained(yield.getOperands(), value);
        });
    if (stages_[&op] == 0 && leaves)
      want(&op);
  }
  while (!open.empty())
    for (Value operand : operandsOf(open.pop_back_val()))
      want(operand.getDefiningOp());
  for (Operation &op : body_->without_terminator()) {
    if (owners_.lookup(&op) != own || stages_[&op] != 0 || wanted.contains(&op))
      continue;
    bool free = llvm::none_of(operandsOf(&op), [&](Value operand) {
      Operation *made = operand.getDefiningOp();
      if (made && made->getBlock() == body_)
        return owners_.lookup(made) == own ? stages_.lookup(made) == 0
                                           : depthOf(operand).owner != Owner::Shared;
      return operand.getParentBlock() == body_ && operand != loop_.getInductionVar();
    });
    if (free)
      stages_[&op] = 1;
  }
}

/// A variable lives in one buffer, so one stage must contain all operations that read or write it.
bool Splitter::placeVariables(Owner own, LoopStages &stages) {
  auto yield = cast<scf::YieldOp>(body_->getTerminator());
  for (auto [argument, value] : llvm::zip(loop_.getRegionIterArgs(), yield.getOperands())) {
    stages.stageOfVariable.push_back(-1);
    if (sideOf(argument) != own)
      continue;
    // A variable that is only passed through has no stage.
    if (!isMade(value, own))
      return false;
    int stage = stages.stageOfVariable.back() = stages_.lookup(value.getDefiningOp());
    llvm::SmallVector<Value> names{argument};
    while (!names.empty())
      for (Operation *user : names.pop_back_val().getUsers()) {
        Operation *here = body_->findAncestorOpInBlock(*user);
        // The buffer of a variable that is yielded as another one, or read outside, would be
        // overwritten too early.
        if (here == yield || !here)
          return false;
        Owner who = owners_.lookup(here);
        if (who == Owner::Shared)
          llvm::append_range(names, here->getResults());
        else if (who != own || stages_.lookup(here) != stage)
          return false;
      }
  }
  return true;
}

bool Splitter::placeOperations(Owner own, LoopStages &stages) {
  // Lengths are bound in both stages.
  llvm::SmallVector<Value> lengths;
  for (Operation &op : body_->without_terminator()) {
    if (auto slice = dyn_cast<SliceOp>(op))
      llvm::append_range(lengths, slice.getLengths());
    else if (auto load = dyn_cast<LoadOp>(op))
      llvm::append_range(lengths, load.getLengths());
    else if (isa<ZerosOp, OnesOp, FullOp, IndexOp, BroadcastOp, ReshapeOp, TopkOp>(op))
      llvm::copy_if(op.getOperands(), std::back_inserter(lengths),
                    [](Value operand) { return operand.getType().isIndex(); });
  }
  for (int stage : {0, 1}) {
    auto &operations = stages.operations[static_cast<size_t>(stage)];
    // What either core can compute is computed again in each stage that needs it.
    llvm::SmallVector<Value> open(lengths);
    for (Operation &op : body_->without_terminator())
      if (owners_.lookup(&op) == own && stages_.lookup(&op) == stage) {
        operations.insert(&op);
        llvm::append_range(open, operandsOf(&op));
      }
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *made = value.getDefiningOp();
      if (!made || made->getBlock() != body_)
        continue;
      Owner who = owners_.lookup(made);
      if (who == Owner::Shared) {
        if (operations.insert(made).second)
          llvm::append_range(open, made->getOperands());
      } else if (who != own) { // It comes from the other core.
        if (!isTile(value.getType()) ||
            stages.arrivals.try_emplace(value, stage).first->second != stage)
          // A stage ahead cannot wait for a value that is made behind.
          return false;
      } else if (stages_.lookup(made) > stage) {
        return false;
      } else if (stages_.lookup(made) < stage) {
        // Only plain tiles of the vector cores can be kept until the round that reads them.
        bool simple = own == Owner::Vector && isTile(value.getType()) &&
                      !elementTypeOf(value.getType()).isInteger(1);
        if (!simple)
          return false;
        stages.kept.insert(value);
      }
    }
  }
  return true;
}

/// Decides the stages of one core and collects the marks. False if the loop cannot be split.
bool Splitter::mark(CoreKind core) {
  Owner own = ownerFor(core);
  findStages(own);
  LoopStages stages;
  if (!placeVariables(own, stages) || !placeOperations(own, stages))
    return false;
  for (auto [op, stage] : stages_)
    marks_.push_back({op, stage == 0 ? "ahead" : "behind"});
  isSplit_ |= stages.isSplit();
  return true;
}

void Splitter::write(int64_t turns) {
  // If both cores have a single stage, the loop stays as it is.
  if (!isSplit_)
    return;
  Builder b(loop_.getContext());
  attrs::turnsAhead.set(loop_, turns);
  for (auto [op, turn] : marks_)
    attrs::turn.set(op, turn);
}

/// Reads the stages from the attributes. nullopt if they are not possible.
std::optional<LoopStages> Splitter::read(CoreKind core) {
  Owner own = ownerFor(core);
  if (!findOwners())
    return std::nullopt;
  stages_.clear();
  for (Operation &op : body_->without_terminator())
    if (owners_.lookup(&op) == own) {
      auto turn = attrs::turn.of(&op);
      if (!turn)
        return std::nullopt;
      stages_[&op] = turn.getValue() == "ahead" ? 0 : 1;
    }
  LoopStages stages;
  if (!placeVariables(own, stages) || !placeOperations(own, stages))
    return std::nullopt;
  return stages;
}

} // namespace

int64_t turnsOf(scf::ForOp loop) {
  auto turns = attrs::turnsAhead.of(loop);
  return turns ? turns.getInt() : 0;
}

std::optional<LoopStages> markedStages(scf::ForOp loop, const CoreAssignment &cores,
                                       CoreKind core) {
  if (turnsOf(loop) == 0)
    return std::nullopt;
  return Splitter(loop, cores).read(core);
}

void markLoopStages(ParallelOp grid, const Machine &machine) {
  CoreAssignment cores = markedCores(grid);
  // A shared queue follows the order of one round, which stages would mix.
  if (attrs::manual.isOn(grid) || !cores.isMixed() || sharesQueues(cores, machine))
    return;
  int64_t turns = turnsAhead(cores, machine, choicesOf(grid));
  grid.walk([&](scf::ForOp loop) {
    auto pipeline = attrs::pipeline.of(loop);
    // At a meeting both cores must be in the same round.
    if (turns < 1 || !pipeline || pipeline.getInt() < 2 || meetsInside(loop, cores))
      return;
    Splitter splitter(loop, cores);
    if (splitter.findDepths() && splitter.mark(CoreKind::Cube) && splitter.mark(CoreKind::Vector))
      splitter.write(turns);
  });
}

/// Whether a core has its stages and receives nothing ahead that the other core makes behind.
static bool fitsTogether(scf::ForOp loop, const CoreAssignment &cores, CoreKind core) {
  std::optional<LoopStages> stages = markedStages(loop, cores, core);
  return stages && llvm::all_of(stages->arrivals, [](const auto &arrival) {
           Operation *made = arrival.first.getDefiningOp();
           auto turn = made ? attrs::turn.of(made) : StringAttr();
           return arrival.second == 1 || !turn || turn.getValue() == "ahead";
         });
}

LogicalResult verifyLoopStages(ParallelOp grid) {
  CoreAssignment cores = markedCores(grid);
  WalkResult result = grid.walk([&](scf::ForOp loop) {
    if (turnsOf(loop) == 0)
      return WalkResult::advance();
    bool fits =
        fitsTogether(loop, cores, CoreKind::Cube) && fitsTogether(loop, cores, CoreKind::Vector);
    if (fits && turnsOf(loop) > 0)
      return WalkResult::advance();
    loop.emitError("its operations cannot run in the pipeline stages assigned to them");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace ptl::block
