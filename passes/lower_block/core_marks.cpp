#include "passes/lower_block/core_marks.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/cube_scalars.h"
#include "passes/lower_block/cut_tiles.h"
#include "passes/lower_block/grid_passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

static bool isTileValue(Value value) { return isa<ArrayType>(value.getType()); }

// ---- writing ------------------------------------------------------------------------------------

static void markGrid(ParallelOp grid, const CoreAssignment &cores) {
  Builder b(grid.getContext());
  const char *kind = cores.isMixed() ? "mix" : cores.usesCube() ? "aic" : "aiv";
  attrs::core.set(grid, kind);
  if (cores.dealt.empty())
    return;
  llvm::SmallVector<Attribute> names(cores.dealt.begin(), cores.dealt.end());
  attrs::dealt.set(grid, names);
}

/// Adds a number to a list that is an attribute.
static void addNumber(Operation *op, llvm::StringRef name, int64_t number) {
  llvm::SmallVector<int64_t> numbers;
  if (auto known = op->getAttrOfType<DenseI64ArrayAttr>(name))
    llvm::append_range(numbers, known.asArrayRef());
  numbers.push_back(number);
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), numbers));
}

void markCores(ParallelOp grid) {
  if (attrs::manual.isOn(grid))
    return;
  CoreAssignment cores = assignCores(grid);
  markGrid(grid, cores);
  // A grid of the vector cores alone has nothing to tell apart.
  if (!cores.usesCube())
    return;
  Builder b(grid.getContext());
  for (Operation *op : cores.cube)
    attrs::core.set(op, "aic");
  for (Operation *op : cores.vector)
    attrs::core.set(op, "aiv");
  // Attributes of operations survive cloning, and show in the text.
  for (Operation *op : cores.meetings)
    attrs::meets.set(op);
  for (const llvm::SmallVector<Value> *list : {&cores.toVector, &cores.toCube})
    for (Value value : *list)
      if (auto result = dyn_cast<OpResult>(value)) // `ptl-hand-operands` has named the others
        addNumber(result.getOwner(), attrs::crosses, result.getResultNumber());
  grid.walk([&](scf::ForOp loop) {
    for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (cores.isAccumulator(argument))
        addNumber(loop, attrs::accumulates, static_cast<int64_t>(number));
  });
}

// ---- reading ------------------------------------------------------------------------------------

/// The operations by core, and what lies in the accumulator.
static void readOperations(ParallelOp grid, CoreAssignment &cores) {
  grid.walk([&](Operation *op) {
    // On the grid the same attribute says which cores it uses.
    auto core = op == grid ? StringAttr() : attrs::core.of(op);
    if (core && core.getValue() == "aic") {
      cores.cube.insert(op);
      cores.accumulators.insert(op->result_begin(), op->result_end());
    } else if (core) {
      cores.vector.insert(op);
    }
    if (attrs::meets.isOn(op))
      cores.meetings.insert(op);
    if (isa<MatmulOp>(op))
      // The parts of one product count once.
      cores.numProducts += partOf(op->getResult(0)).number == 0;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [number, argument, result] :
           llvm::enumerate(loop.getRegionIterArgs(), loop.getResults()))
        if (attrs::accumulates.holds(op, static_cast<int64_t>(number))) {
          cores.accumulators.insert(argument);
          cores.accumulators.insert(result);
        }
  });
}

/// Reads the values that cross: to the vector cores in the order of the program, to the cube core
/// in that of the products.
static void readCrossings(ParallelOp grid, CoreAssignment &cores) {
  grid.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (cores.isAccumulator(result) && attrs::crosses.holds(op, result.getResultNumber()))
        cores.toVector.push_back(result);
  });
  grid.walk([&](MatmulOp product) {
    for (Value operand : product->getOperands()) {
      auto source = dyn_cast<OpResult>(productSource(operand));
      // An accumulator that a product reads crosses to the vector cores first.
      if (source && !cores.isAccumulator(source) && !cores.crossesToCube(source) &&
          attrs::crosses.holds(source.getOwner(), source.getResultNumber()))
        cores.toCube.push_back(source);
    }
  });
}

CoreAssignment markedCores(ParallelOp grid) {
  if (attrs::manual.isOn(grid))
    return assignCores(grid);
  CoreAssignment cores;
  auto kind = attrs::core.of(grid);
  cores.usesVector = !kind || kind.getValue() != "aic";
  if (auto names = attrs::dealt.of(grid))
    for (Attribute name : names)
      cores.dealt.push_back(cast<StringAttr>(name));
  if (auto names = attrs::parts.of(grid))
    for (Attribute name : names.getValue().drop_front(names.empty() ? 0 : 1))
      cores.mayBeEmpty.push_back(cast<StringAttr>(name));
  readOperations(grid, cores);
  readCrossings(grid, cores);
  llvm::SetVector<Value> stored;
  grid.walk([&](StoreOp store) { stored.insert(store.getRef()); });
  // `metOver` keeps the order of the program, which this set does not.
  cores.written.insert(stored.begin(), stored.end());
  if (!cores.meetings.empty())
    cores.metOver = stored.takeVector();
  return cores;
}

// ---- verifying ----------------------------------------------------------------------------------

namespace {
class Verifier {
public:
  explicit Verifier(ParallelOp grid) : grid_(grid), cores_(markedCores(grid)) {}

  LogicalResult run() {
    auto kind = attrs::core.of(grid_);
    if (!kind)
      return grid_.emitError("the grid has no kind of core");
    const char *own = cores_.isMixed() ? "mix" : cores_.usesCube() ? "aic" : "aiv";
    if (kind.getValue() != own)
      return grid_.emitError() << "is marked `" << kind.getValue() << "`, but its operations need `"
                               << own << '`';
    if (cores_.usesCube())
      // Numbers that are computed from tiles should have been handed over through memory by now.
      for (Value scalar : needsOfCube(grid_, cores_).scalars)
        if (isNumberOfTiles(scalar))
          return scalar.getDefiningOp()->emitError(
              "the cube core needs a scalar computed from tiles");
    WalkResult result = grid_.walk([&](Operation *op) {
      return succeeded(verify(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult verify(Operation *op) {
    if (isa<MatmulOp>(op) && cores_.coreOf(op) != CoreKind::Cube)
      return op->emitError("a product is not assigned to the cube core");
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return verifyLoop(loop);
    if (cores_.cube.contains(op))
      return verifyCube(op);
    if (op->getNumRegions() == 0 && cores_.vector.contains(op))
      return verifyVector(op);
    // A pure operation without a core is done by whoever needs it, but an effect must happen
    // exactly once.
    bool hasEffect =
        isa<StoreOp>(op) || (isa<PrintOp>(op) && llvm::any_of(op->getOperands(), isTileValue));
    if (cores_.usesCube() && hasEffect)
      return op->emitError("it has an effect and is assigned to no core");
    return verifyCrossing(op);
  }

  /// A value that an accumulator is passed on as is an accumulator, too.
  LogicalResult verifyLoop(scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [argument, next] : llvm::zip(loop.getRegionIterArgs(), yield.getOperands()))
      if (cores_.isAccumulator(argument) && !cores_.isAccumulator(next))
        return loop.emitError("a variable kept in the accumulator gets a value that is no product");
    return verifyCrossing(loop);
  }

  LogicalResult verifyCube(Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isTileValue(operand) || isGlobal(operand) || cores_.isAccumulator(operand))
        continue;
      bool isOperand = isa<MatmulOp>(op) &&
                       (isLoadedOperand(operand) || cores_.crossesToCube(productSource(operand)));
      bool isBegin = isa<AddOp>(op) && operand.getDefiningOp(); // zeros, which nothing makes
      if (!isOperand && !isBegin)
        return op->emitError("the cube core reads a value that it neither loads nor receives");
    }
    return verifyCrossing(op);
  }

  LogicalResult verifyVector(Operation *op) {
    for (Value operand : op->getOperands())
      if (cores_.isAccumulator(operand) && !llvm::is_contained(cores_.toVector, operand))
        return op->emitError("the vector cores read an accumulator that is not sent to them");
    return verifyCrossing(op);
  }

  LogicalResult verifyCrossing(Operation *op) {
    auto crossing = attrs::crosses.of(op);
    if (!crossing)
      return success();
    for (int64_t number : crossing.asArrayRef()) {
      if (number < 0 || number >= op->getNumResults())
        return op->emitError("no result crosses between cores");
      Value value = op->getResult(static_cast<unsigned>(number));
      if (!llvm::is_contained(cores_.toVector, value) && !cores_.crossesToCube(value))
        return op->emitError("it crosses to a core that does not read it");
      llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
      bool isWhole = choicesOf(grid_).slices > 1; // slices of it are dealt
      if (!cores_.dealt.empty() &&
          (extents.size() != 2 || (!isWhole && !cores_.deals(extents[0].symbol))))
        return op->emitError(
            "its rows are not divided among the vector cores as those of other values are");
    }
    return success();
  }

  ParallelOp grid_;
  CoreAssignment cores_;
};
} // namespace

LogicalResult verifyCores(ParallelOp grid) {
  return attrs::manual.isOn(grid) ? success() : Verifier(grid).run();
}

} // namespace ptl::block
