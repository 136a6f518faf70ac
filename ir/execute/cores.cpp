// Grids that both kinds of cores work on, as the marks mean it (`ptl.core`, `ptl.crosses`, `ptl.turn`):
// each kind knows what it makes, what all make for themselves and what it is handed. The two go
// through the program together; queues keep the order of the program, so that is one of the orders
// in which cores may do it.
#include "ir/dialect/attributes.h"
#include "ir/execute/arithmetic.h"
#include "ir/execute/interpreter.h"

#include <deque>

using namespace mlir;

namespace ptl::execute {

using reference::RunStatus;

static std::string nameOf(Operation *op) { return "`" + op->getName().getStringRef().str() + "`"; }

/// Makes `values_` those of a kind of core.
void Interpreter::on(Core core) {
  // Each kind of core has values of its own, and the present one's are in `values_`.
  if (core != core_)
    std::swap(values_, others_);
  core_ = core;
}

/// Whether the present core has all of these. Storage is there for all.
bool Interpreter::knows(ValueRange values) const {
  return llvm::all_of(values, [&](mlir::Value value) {
    return storage_.contains(value) || values_.contains(value);
  });
}

void Interpreter::forget(ValueRange values) {
  for (mlir::Value value : values)
    values_.erase(value);
}

/// Does something on each core that is present.
template <typename Body> void Interpreter::onEach(Body body) {
  for (Core core : {Cube, Vector})
    if (present_[core]) {
      on(core);
      body();
    }
}

/// The numbers that decide about control flow, on which all cores that know them have to agree.
/// Those that do not know them do not go there: they are not present any more.
std::optional<std::vector<int64_t>> Interpreter::agreed(Operation *op, ValueRange values) {
  std::optional<std::vector<int64_t>> known;
  bool differ = false;
  onEach([&] {
    present_[core_] = knows(values);
    if (!present_[core_])
      return;
    std::vector<int64_t> own = numbers(values);
    differ |= known && *known != own;
    known = std::move(own);
  });
  if (!known)
    stop(RunStatus::Fault, op, nameOf(op) + " depends on what no core knows");
  else if (differ)
    stop(RunStatus::Fault, op, "the kinds of cores decide differently about " + nameOf(op));
  return isStopped() ? std::nullopt : known;
}

// ---- operations ---------------------------------------------------------------------------------

/// Results that cross: from the cube core if they are its own, else to it.
void Interpreter::handOver(Operation *op) {
  for (OpResult result : op->getResults()) {
    int64_t number = result.getResultNumber();
    if (!attrs::crosses.holds(op, number))
      continue;
    auto attribute = attrs::core.of(op);
    // Accumulators belong to the cube core, whatever is said of the whole operation.
    bool fromCube =
        (attribute && attribute.getValue() == "aic") || attrs::accumulates.holds(op, number);
    Core to = fromCube ? Vector : Cube;
    // The sender's values become the present ones, so the receiver's are the others.
    on(fromCube ? Cube : Vector);
    if (!values_.contains(result) || !present_[to])
      return stop(RunStatus::Fault, op, nameOf(op) + " is handed over where one core is not");
    others_[result] = values_.lookup(result);
  }
}

void Interpreter::runOnCores(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, ir::ParallelOp>(op))
    return runControlOnCores(op);
  if (isa<ir::AllocOp>(op)) { // once: it is there for all
    on(Vector);
    return runHere(op);
  }
  auto attribute = attrs::core.of(op);
  for (Core core : {Cube, Vector}) {
    // An operation that names its core runs on that core alone; others run wherever their operands
    // are known.
    bool isOwn = attribute && attribute.getValue() == (core == Cube ? "aic" : "aiv");
    on(core);
    if (isOwn && !(present_[core] && knows(op->getOperands())))
      return stop(RunStatus::Fault, op,
                  nameOf(op) + " of `" + attribute.str() + "` reads what that core does not have");
    // A result of the turn before must not be taken for one of this turn.
    forget(op->getResults());
    bool isDone = isOwn || (!attribute && present_[core] && knows(op->getOperands()));
    if (!isDone || isStopped())
      continue;
    if (auto condition = dyn_cast<ir::CheckOp>(op))
      check(condition);
    else
      runHere(op);
  }
  if (!isStopped())
    handOver(op);
}

// ---- control ------------------------------------------------------------------------------------

void Interpreter::runControlOnCores(Operation *op) {
  // A core that drops out inside comes back behind the operation.
  std::array<bool, 2> around = present_;
  for (Core core : {Cube, Vector}) {
    on(core);
    forget(op->getResults());
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    runForOnCores(loop);
  else if (auto branch = dyn_cast<scf::IfOp>(op))
    runIfOnCores(branch);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    runWhileOnCores(loop);
  else
    runGridOnCores(cast<ir::ParallelOp>(op));
  present_ = around;
  if (!isStopped())
    handOver(op);
}

void Interpreter::runForOnCores(scf::ForOp loop) {
  auto bounds = agreed(loop, {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (!bounds)
    return;
  int64_t lower = (*bounds)[0], upper = (*bounds)[1], step = (*bounds)[2];
  if (step <= 0)
    return stop(RunStatus::Fault, loop, "a loop with the step " + std::to_string(step));
  // Cores that are not present keep no variables.
  onEach([&] { bind(loop.getRegionIterArgs(), loop.getInitArgs()); });
  if (attrs::turnsAhead.isOn(loop)) {
    runInStages(loop, lower, lower < upper ? (upper - lower + step - 1) / step : 0, step);
  } else {
    // The queues keep the order of the program, so running both kinds in step is one of the real
    // orders.
    ElemKind kind = kindOf(loop.getInductionVar().getType());
    for (int64_t i = lower; i < upper && !isStopped(); i += step) {
      onEach([&] {
        values_[loop.getInductionVar()] = reference::Value::scalar(kind, Scalar::integer(i));
      });
      runBlock(*loop.getBody());
      onEach(
          [&] { bind(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands()); });
    }
  }
  onEach([&] { bind(loop.getResults(), loop.getRegionIterArgs()); });
}

void Interpreter::runIfOnCores(scf::IfOp branch) {
  auto holds = agreed(branch, branch.getCondition());
  if (!holds)
    return;
  Region &arm = holds->front() ? branch.getThenRegion() : branch.getElseRegion();
  if (arm.empty())
    return;
  runBlock(arm.front());
  onEach([&] { bind(branch.getResults(), arm.front().getTerminator()->getOperands()); });
}

void Interpreter::runWhileOnCores(scf::WhileOp loop) {
  onEach([&] { bind(loop.getBeforeArguments(), loop.getInits()); });
  while (!isStopped()) {
    runBlock(*loop.getBeforeBody());
    auto holds = agreed(loop, loop.getConditionOp().getCondition());
    onEach([&] { bind(loop.getAfterArguments(), loop.getConditionOp().getArgs()); });
    if (!holds || !holds->front())
      break;
    runBlock(*loop.getAfterBody());
    onEach([&] {
      bind(loop.getBeforeArguments(), loop.getAfterBody()->getTerminator()->getOperands());
    });
  }
  onEach([&] { bind(loop.getResults(), loop.getAfterArguments()); });
}

void Interpreter::runGridOnCores(ir::ParallelOp grid) {
  auto lower = agreed(grid, grid.getLower()), upper = agreed(grid, grid.getUpper()),
       steps = agreed(grid, grid.getSteps());
  if (!lower || !upper || !steps)
    return;
  for (const std::vector<int64_t> &point : pointsOf(*lower, *upper, *steps)) {
    if (isStopped())
      return;
    onEach([&] {
      for (auto [variable, position] : llvm::zip(grid.getBody().getArguments(), point))
        values_[variable] = reference::Value::integer(position);
    });
    runBlock(grid.getBody().front());
  }
}

// ---- loops in two stages ------------------------------------------------------------------------

/// The values that each kind of core has of some IR values.
struct Interpreter::Kept {
  std::array<llvm::DenseMap<mlir::Value, reference::Value>, 2> known;
};

Interpreter::Kept Interpreter::keep(llvm::ArrayRef<mlir::Value> values) {
  Kept kept;
  onEach([&] {
    for (mlir::Value value : values)
      if (auto found = values_.find(value); found != values_.end())
        kept.known[core_][value] = found->second;
  });
  return kept;
}

/// Restores these values; a value that a core did not have then is removed.
void Interpreter::restore(llvm::ArrayRef<mlir::Value> values, const Kept &kept) {
  onEach([&] {
    for (mlir::Value value : values)
      if (auto found = kept.known[core_].find(value); found != kept.known[core_].end())
        values_[value] = found->second;
      else
        values_.erase(value);
  });
}

/// The stage that makes a value in the body of a loop; what says nothing goes with what it is made
/// of.
static llvm::StringRef stageOf(mlir::Value value, Block *body) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != body)
    return "ahead";
  if (auto attribute = attrs::turn.of(op))
    return attribute.getValue();
  // An operation without a mark belongs to the stage of its operands, and is behind if any of them
  // is.
  bool isBehind = llvm::any_of(
      op->getOperands(), [&](mlir::Value operand) { return stageOf(operand, body) == "behind"; });
  return isBehind ? "behind" : "ahead";
}

/// Runs the operations of one stage, and those that belong to no stage, at one position.
void Interpreter::runStage(scf::ForOp loop, llvm::StringRef stage, int64_t position) {
  ElemKind kind = kindOf(loop.getInductionVar().getType());
  onEach([&] {
    values_[loop.getInductionVar()] = reference::Value::scalar(kind, Scalar::integer(position));
  });
  for (Operation &op : loop.getBody()->without_terminator()) {
    // Operations of no stage run in both, since both may need them.
    auto attribute = attrs::turn.of(&op);
    if (!isStopped() && (!attribute || attribute.getValue() == stage))
      runOp(&op);
  }
  // Each stage updates the variables that it computes.
  llvm::SmallVector<mlir::Value> variables, next;
  for (auto [variable, value] :
       llvm::zip(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands()))
    if (stageOf(value, loop.getBody()) == stage) {
      variables.push_back(variable);
      next.push_back(value);
    }
  onEach([&] { bind(variables, next); });
}

/// Each turn does what is ahead, and then what is behind of an earlier turn, which finds what was
/// made ahead for it and nothing else.
void Interpreter::runInStages(scf::ForOp loop, int64_t lower, int64_t count, int64_t step) {
  Block *body = loop.getBody();
  int64_t turns = attrs::turnsAhead.of(loop).getInt();
  // Values that are made ahead have to wait for the turn in which they are used.
  llvm::SmallVector<mlir::Value> made, variables; // variables: of what is ahead
  for (Operation &op : body->without_terminator())
    llvm::append_range(made, op.getResults());
  for (auto [variable, value] :
       llvm::zip(loop.getRegionIterArgs(), body->getTerminator()->getOperands()))
    if (stageOf(value, body) == "ahead")
      variables.push_back(variable);
  std::deque<std::pair<Kept, Kept>> waiting; // what was made, variables as they were
  Kept ahead = keep(variables);
  // The loop has as many further turns as the first stage is ahead.
  for (int64_t turn = 0; turn < count + turns && !isStopped(); ++turn) {
    if (turn < count) {
      // What the stage behind has left must not be read by the stage ahead.
      onEach([&] { forget(made); });
      restore(variables, ahead);
      // The stage behind finds the variables as they were in its own turn.
      Kept before = keep(variables);
      runStage(loop, "ahead", lower + turn * step);
      ahead = keep(variables);
      waiting.emplace_back(keep(made), std::move(before));
    }
    if (turn >= turns && !waiting.empty()) {
      restore(made, waiting.front().first);
      restore(variables, waiting.front().second);
      waiting.pop_front();
      runStage(loop, "behind", lower + (turn - turns) * step);
    }
  }
  // The loop's results are the variables of the last stage ahead.
  restore(variables, ahead);
}

} // namespace ptl::execute
