#include "ir/execute/interpreter.h"

#include "codegen/reference/array_ops.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/file_location.h"
#include "ir/execute/arithmetic.h"

#include <algorithm>
#include <random>

using namespace mlir;

namespace ptl::execute {

using reference::RefArray;
using reference::RunStatus;

Result execute(func::FuncOp function, std::vector<reference::Value> arguments,
               const Options &options) {
  return Interpreter(options).run(function, std::move(arguments));
}

Result Interpreter::run(func::FuncOp function, std::vector<reference::Value> arguments) {
  std::vector<Storage> made;
  for (auto [argument, value] : llvm::zip(function.getArguments(), arguments)) {
    if (isa<ir::RefType>(argument.getType())) {
      // Storage is shared between the caller's argument and what the function writes.
      made.push_back(std::make_shared<RefArray>(reference::asArray(value, scalar_)));
      storage_[argument] = made.back();
    } else {
      values_[argument] = std::move(value);
    }
  }
  runBlock(function.getBody().front());
  for (const auto &[storage, view] : views_) {
    std::vector<int64_t> shape = storage->shape;
    *storage = std::move(*view);
    storage->shape = std::move(shape);
  }
  for (const Storage &each : made)
    result_.storage.push_back(std::move(*each));
  return std::move(result_);
}

void Interpreter::stop(RunStatus status, Operation *op, std::string message) {
  // The first failure counts.
  if (isStopped())
    return;
  result_.status = status;
  if (FileLineColLoc at = fileOf(op->getLoc()))
    message = at.getFilename().str() + ":" + std::to_string(at.getLine()) + ": " + message;
  result_.message = std::move(message);
}

// ---- values -------------------------------------------------------------------------------------

void Interpreter::bind(ValueRange targets, ValueRange sources) {
  // All sources are read before any target is set, since they may be the same values.
  llvm::SmallVector<reference::Value> values;
  llvm::SmallVector<Storage> storage;
  for (mlir::Value source : sources) {
    values.push_back(values_.lookup(source));
    storage.push_back(storage_.lookup(source));
  }
  for (auto [source, target, value, memory] : llvm::zip(sources, targets, values, storage)) {
    if (values_.contains(source))
      values_[target] = value;
    // A source without a value leaves the target without one, rather than with that of the turn
    // before.
    else
      values_.erase(target);
    if (memory)
      storage_[target] = memory;
  }
}

/// Keeps what an operation made, if it is what the type says. The check catches passes that change a shape or an element type.
void Interpreter::set(mlir::Value value, reference::Value content) {
  mlir::Type type = value.getType();
  bool fits = content.elem() == kindOf(ir::elementTypeOf(type)) &&
              content.shape().size() == ir::extentsOf(type).size();
  for (size_t axis = 0; fits && axis < content.shape().size(); ++axis) {
    const ir::Extent &extent = ir::extentsOf(type)[axis];
    int64_t length = content.shape()[axis];
    fits = extent.isConstant() ? length == extent.length
                               // A named extent must stay within its bound.
                               : extent.capacity < 0 || length <= extent.capacity;
  }
  if (!fits) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    stop(RunStatus::Fault, value.getDefiningOp(),
         "`" + value.getDefiningOp()->getName().getStringRef().str() + "` makes " +
             reference::typeText(content.elem(), content.shape()) + ", its type is " + text);
  }
  values_[value] = std::move(content);
}

int64_t Interpreter::number(mlir::Value value) const {
  auto found = values_.find(value);
  return found != values_.end() && found->second.isScalar() ? found->second.asScalar().scalar.i : 0;
}

std::vector<int64_t> Interpreter::numbers(ValueRange values) const {
  std::vector<int64_t> all;
  for (mlir::Value value : values)
    all.push_back(number(value));
  return all;
}

/// The lengths of a type, of which `named` says those that are no numbers.
std::vector<int64_t> Interpreter::shapeOf(mlir::Type type, ValueRange named) const {
  std::vector<int64_t> shape;
  size_t next = 0;
  for (const ir::Extent &extent : ir::extentsOf(type))
    shape.push_back(extent.isConstant() ? extent.length
                                        // A negative length is an empty axis.
                                        : std::max<int64_t>(number(named[next++]), 0));
  return shape;
}

/// The elements of an array or of storage.
const RefArray &Interpreter::baseOf(mlir::Value base) {
  if (Storage storage = storage_.lookup(base))
    // Arrays are values, and storage is memory that several names share.
    return *storage;
  return reference::asArray(values_[base], scalar_);
}

// ---- control ------------------------------------------------------------------------------------

void Interpreter::runBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isStopped())
      return;
    runOp(&op);
  }
}

void Interpreter::runOp(Operation *op) {
  // The limit ends loops that a wrong pass has made endless.
  if (++operations_ > options_.maxOperations)
    return stop(RunStatus::Fault, op, "it comes to no end");
  if (onCores_)
    runOnCores(op);
  else if (!runControl(op))
    runHere(op);
}

/// Runs an operation that is no control flow, on the values that this core has.
void Interpreter::runHere(Operation *op) {
  if (runStructure(op) || runBuiltin(op))
    return;
  bool isScalar = op->getNumRegions() == 0 && op->getNumResults() == 1 &&
                  op->getResult(0).getType().isIntOrIndexOrFloat();
  if (!isScalar)
    return stop(RunStatus::Unsupported, op,
                "`" + op->getName().getStringRef().str() + "` is not of the tile level");
  runScalar(op);
}

bool Interpreter::runControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    runFor(loop);
  else if (auto branch = dyn_cast<scf::IfOp>(op))
    runIf(branch);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    runWhile(loop);
  else if (auto grid = dyn_cast<ir::ParallelOp>(op))
    runGrid(grid);
  else if (auto launch = dyn_cast<ir::LaunchOp>(op))
    runLaunch(launch);
  else if (auto condition = dyn_cast<ir::CheckOp>(op))
    check(condition);
  else
    return false;
  return true;
}

void Interpreter::runFor(scf::ForOp loop) {
  bind(loop.getRegionIterArgs(), loop.getInitArgs());
  int64_t end = number(loop.getUpperBound()), step = number(loop.getStep());
  if (step <= 0)
    return stop(RunStatus::Fault, loop, "a loop with the step " + std::to_string(step));
  ElemKind kind = kindOf(loop.getInductionVar().getType());
  for (int64_t i = number(loop.getLowerBound()); i < end && !isStopped(); i += step) {
    values_[loop.getInductionVar()] = reference::Value::scalar(kind, Scalar::integer(i));
    runBlock(*loop.getBody());
    bind(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
  }
  bind(loop.getResults(), loop.getRegionIterArgs());
}

void Interpreter::runIf(scf::IfOp branch) {
  Region &arm = number(branch.getCondition()) ? branch.getThenRegion() : branch.getElseRegion();
  if (arm.empty())
    return;
  runBlock(arm.front());
  bind(branch.getResults(), arm.front().getTerminator()->getOperands());
}

void Interpreter::runWhile(scf::WhileOp loop) {
  bind(loop.getBeforeArguments(), loop.getInits());
  while (!isStopped()) {
    runBlock(*loop.getBeforeBody());
    bind(loop.getAfterArguments(), loop.getConditionOp().getArgs());
    if (isStopped() || !number(loop.getConditionOp().getCondition()))
      break;
    runBlock(*loop.getAfterBody());
    bind(loop.getBeforeArguments(), loop.getAfterBody()->getTerminator()->getOperands());
  }
  bind(loop.getResults(), loop.getAfterArguments());
}

void Interpreter::runGrid(ir::ParallelOp grid) {
  if (attrs::manual.isOn(grid))
    return stop(RunStatus::Unsupported, grid, "a kernel by hand is of the block level");
  std::vector<int64_t> lower = numbers(grid.getLower()), upper = numbers(grid.getUpper()),
                       steps = numbers(grid.getSteps());
  auto kind = attrs::core.of(grid);
  // A grid for both kinds of cores is run by marks (`cores.cpp`).
  if (kind && kind.getValue() == "mix") {
    // Both kinds know what the grid finds outside of it.
    others_ = values_;
    onCores_ = true;
    runGridOnCores(grid);
    on(Vector);
    onCores_ = false;
    return others_.clear();
  }
  for (const std::vector<int64_t> &point : pointsOf(lower, upper, steps)) {
    if (isStopped())
      return;
    for (auto [variable, position] : llvm::zip(grid.getBody().getArguments(), point))
      values_[variable] = reference::Value::integer(position);
    runBlock(grid.getBody().front());
  }
}

/// In the order in which they are run.
std::vector<std::vector<int64_t>> Interpreter::pointsOf(llvm::ArrayRef<int64_t> lower,
                                                        llvm::ArrayRef<int64_t> upper,
                                                        llvm::ArrayRef<int64_t> steps) const {
  // The points are the product of the positions of all axes.
  std::vector<std::vector<int64_t>> points{{}};
  for (size_t axis = 0; axis < lower.size(); ++axis) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &point : points)
      for (int64_t i = lower[axis]; i < upper[axis]; i += std::max<int64_t>(steps[axis], 1)) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    points = std::move(longer);
  }
  // Points are independent, so any order has to give the same.
  if (options_.shuffle)
    std::shuffle(points.begin(), points.end(), std::mt19937_64(*options_.shuffle));
  return points;
}

void Interpreter::runLaunch(ir::LaunchOp launch) {
  auto module = launch->getParentOfType<ModuleOp>();
  auto kernel = module.lookupSymbol<func::FuncOp>(launch.getKernel());
  if (!kernel)
    return stop(RunStatus::Unsupported, launch, "the kernel is of the block level");
  bind(kernel.getArguments(), launch.getArguments());
  runBlock(kernel.getBody().front());
}

static RunStatus statusOf(llvm::StringRef name) {
  for (RunStatus status :
       {RunStatus::Assert, RunStatus::Bounds, RunStatus::Where, RunStatus::Arithmetic})
    if (name == llvm::StringRef(reference::runStatusName(status)))
      return status;
  // Checks of data have no status of their own.
  return RunStatus::Where; // a fact about data
}

void Interpreter::check(ir::CheckOp check) {
  if (number(check.getCondition()))
    return;
  std::string text = check.getMessage().str();
  // Places in the message are filled with the values that made it fail.
  for (auto [i, value] : llvm::enumerate(check.getValues())) {
    std::string place = "{" + std::to_string(i) + "}";
    const reference::Value &known = values_[value];
    if (size_t at = text.find(place); at != text.npos && known.isScalar())
      text.replace(at, place.size(), reference::scalarText(known.elem(), known.asScalar().scalar));
  }
  stop(statusOf(check.getStatus()), check, std::move(text));
}

} // namespace ptl::execute
