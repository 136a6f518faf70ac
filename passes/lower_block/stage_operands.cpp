#include "passes/lower_block/stage_operands.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/limits.h"
#include "passes/lower_block/product_steps.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;

namespace ptl::block {

std::optional<bool> productUse(Value value, bool transposed) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<ir::MatmulOp>(user) && use.getOperandNumber() < 2)
      // All products that read a load are taken to read it in the same way.
      return transposed;
    if (isa<ir::TransposeOp>(user))
      if (auto use = productUse(user->getResult(0), !transposed))
        return use;
    if (isa<ir::CastOp, ir::NewAxisOp>(user) && !isHanded(user))
      if (auto use = productUse(user->getResult(0), transposed))
        return use;
  }
  return std::nullopt;
}

namespace {
struct Operand {
  Operation *load;
  std::optional<int64_t> bytes; ///< nothing: there is no bound
};
} // namespace

/// This number of bytes fits into no memory.
static constexpr int64_t kMostBytes = int64_t(1) << 36;

/// In whole boxes of rows and columns, as they are staged.
static std::optional<int64_t> bytesOf(Value value,
                                      const llvm::DenseMap<StringAttr, int64_t> &capacities) {
  int64_t bytes = pto::elementBytes(ir::elementTypeOf(value.getType())), box = productBox(bytes);
  for (auto [fromLast, extent] : llvm::enumerate(llvm::reverse(ir::extentsOf(value.getType())))) {
    int64_t capacity = capacityIn(extent, capacities), unit = fromLast < 2 ? box : 1;
    if (capacity == ir::Extent::kUnknown)
      return std::nullopt;
    int64_t units = countCovering(std::max<int64_t>(capacity, 1), unit);
    // The limit keeps the product from overflowing.
    bytes = std::min(bytes * units * unit, kMostBytes);
  }
  return bytes;
}

/// The loads that the cube core does, as products read them.
static llvm::SmallVector<Operand> operandsOfProducts(ir::ParallelOp grid) {
  llvm::DenseMap<StringAttr, int64_t> capacities = capacitiesOf(grid);
  llvm::SmallVector<Operand> operands;
  grid.walk([&](Operation *op) {
    if (isa<ir::SliceOp, ir::LoadOp>(op) && isLoadedOperand(op->getResult(0)) &&
        productUse(op->getResult(0)))
      operands.push_back({op, bytesOf(op->getResult(0), capacities)});
  });
  return operands;
}

/// The largest ones that products load in loops, the last ones of those alike.
static llvm::DenseSet<Operation *> largest(llvm::SmallVector<Operand> operands, int64_t count) {
  llvm::erase_if(operands,
                 [](const Operand &each) { return !each.load->getParentOfType<scf::ForOp>(); });
  // The sort is stable, so reversing puts the last one first among equals.
  std::reverse(operands.begin(), operands.end());
  llvm::stable_sort(operands, [](const Operand &a, const Operand &b) {
    return a.bytes.value_or(0) > b.bytes.value_or(0);
  });
  llvm::DenseSet<Operation *> chosen;
  for (const Operand &operand : llvm::ArrayRef(operands).take_front(
           static_cast<size_t>(std::min<int64_t>(count, static_cast<int64_t>(operands.size())))))
    chosen.insert(operand.load);
  return chosen;
}

/// What stands in a slot of a ring goes in pieces where it is large, and where the other operand
/// does, since pieces of both are multiplied at a time.
static void markJoined(ir::ParallelOp grid, const Machine &machine) {
  if (choicesOf(grid).slices <= 1)
    return;
  llvm::DenseMap<StringAttr, int64_t> capacities = capacitiesOf(grid);
  grid.walk([&](ir::MatmulOp product) {
    auto joined = product->getOperand(0).getDefiningOp<ir::ConcatOp>();
    if (!joined)
      return;
    Operation *other = productSource(product->getOperand(1)).getDefiningOp();
    std::optional<int64_t> bytes = bytesOf(joined.getResult(), capacities);
    bool isLarge = !bytes || *bytes > usableBytes(machine, "mat") / 4;
    if (isLarge || (other && isInPieces(other)))
      attrs::staged.set(joined, "pieces");
  });
}

bool markOperands(ir::ParallelOp grid, const Machine &machine, const Report &report) {
  if (attrs::manual.isOn(grid))
    return true;
  llvm::SmallVector<Operand> operands = operandsOfProducts(grid);
  llvm::DenseSet<Operation *> streamed = largest(operands, choicesOf(grid).streamed);
  CoreAssignment cores = markedCores(grid);
  for (const Operand &operand : operands) {
    bool isWritten = cores.written.contains(operand.load->getOperand(0));
    // Loading piece by piece would read what the kernel has stored meanwhile.
    if (!operand.bytes && isWritten) {
      report(DiagId::NotOnBlockLevel, operand.load->getLoc(),
             {"an operand of a product without a static bound, from an array that the kernel "
              "stores to,",
              machine.name});
      return false;
    }
    // A quarter leaves room for the other operand, and for two of each in turn.
    bool isLarge = !operand.bytes || *operand.bytes > usableBytes(machine, "mat") / 4;
    bool inPieces = !isWritten && (isLarge || streamed.contains(operand.load));
    attrs::staged.set(operand.load, inPieces ? "pieces" : "whole");
  }
  markJoined(grid, machine);
  return true;
}

bool isInPieces(Operation *load) {
  auto staged = attrs::staged.of(load);
  return staged && staged.getValue() == "pieces";
}

LogicalResult verifyOperands(ir::ParallelOp grid) {
  if (attrs::manual.isOn(grid))
    return success();
  for (const Operand &operand : operandsOfProducts(grid)) {
    if (!attrs::staged.isOn(operand.load))
      return operand.load->emitError("a product reads this load, which has no staging");
    if (!operand.bytes && !isInPieces(operand.load))
      return operand.load->emitError(
          "this operand is staged whole, but its size has no static bound");
  }
  return success();
}

} // namespace ptl::block
