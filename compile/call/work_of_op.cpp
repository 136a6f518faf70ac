#include "compile/call/work_of_op.h"

#include "ir/dialect/fold.h"
#include "ir/ops/op_lowering.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ptl {

static bool isInGrid(Operation *op) { return op->getParentOfType<ir::ParallelOp>() != nullptr; }

/// Views outside of grids compute nothing, and stand for the array that they show.
static bool onlyShows(Operation *op) {
  return !isInGrid(op) && (ir::isView(op) || isa<ir::LoadOp, ir::ViewOp>(op));
}

int64_t bytesOf(mlir::Type type, llvm::ArrayRef<int64_t> extents) {
  mlir::Type element = ir::elementTypeOf(type);
  int64_t bytes = element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t extent : extents)
    bytes *= extent;
  return bytes;
}

Value memoryOf(Value value) {
  if (!ir::isArrayLike(value.getType()))
    return {};
  Operation *op = value.getDefiningOp();
  if (!op) // an argument of the entry, or what a loop carries outside of grids
    return isInGrid(value.getParentBlock()->getParentOp()) ||
                   isa<ir::ParallelOp>(value.getParentBlock()->getParentOp())
               ? Value()
               : value;
  if (onlyShows(op))
    return memoryOf(op->getOperand(0));
  return isInGrid(op) || ir::isFill(op) ? Value() : value;
}

llvm::SmallVector<Value> memoriesOf(Operation &op) {
  llvm::SmallVector<Value> found;
  for (Value operand : op.getOperands())
    if (Value memory = memoryOf(operand))
      found.push_back(memory);
  return found;
}

/// Costs of elements on this processor stand in the records, in additions. What a reduction does
/// with an element is what joins two results.
static std::optional<int64_t> operationsOf(Operation &op, const OpRecord &record,
                                           const ExtentsOf &extentsOf) {
  auto count = [&](mlir::Type type) -> std::optional<int64_t> {
    int64_t elements = 1;
    std::optional<std::vector<int64_t>> extents = extentsOf(type);
    if (!extents)
      return std::nullopt;
    for (int64_t extent : *extents)
      elements *= extent;
    return elements;
  };
  auto times = [](std::optional<int64_t> number, int64_t factor) {
    return number ? std::optional(*number * factor) : std::nullopt;
  };
  const OpLowering &lowering = opLowering(record.id);
  switch (record.opClass) {
  case OpClass::Product: {
    std::optional<int64_t> flops = flopsOf(op, extentsOf);
    // A multiply-add is two flops, and costs what one addition does.
    return flops ? std::optional(*flops / 2) : std::nullopt;
  }
  case OpClass::Reduction: {
    int64_t cost = lowering.combiner ? opLowering(*lowering.combiner).cpuCost : lowering.cpuCost;
    return times(count(op.getOperand(0).getType()), cost + (op.hasAttr("axis") ? 1 : 0));
  }
  case OpClass::Scan:
    return times(count(op.getOperand(0).getType()), lowering.cpuCost);
  case OpClass::Sort: // at least one comparison of each element; what is to do beyond data decides
    return count(op.getOperand(0).getType());
  case OpClass::Shape:
  case OpClass::Creation:
  case OpClass::Load:
  case OpClass::Effect:
    return 0;
  default:
    return op.getNumResults() == 0 ? std::optional<int64_t>(0)
                                   : times(count(op.getResult(0).getType()), lowering.cpuCost);
  }
}

/// What a fold does with each element of its arrays is its body.
static std::optional<int64_t> operationsOfFold(ir::FoldOp fold, const ExtentsOf &extentsOf) {
  std::optional<std::vector<int64_t>> extents = extentsOf(fold.getOperand(0).getType());
  if (!extents)
    return std::nullopt;
  int64_t operations = 0;
  for (Operation &op : fold.getBody().front())
    if (const OpRecord *record = ir::recordOf(&op))
      operations += opLowering(record->id).cpuCost;
  for (int64_t extent : *extents)
    operations *= extent;
  return operations;
}

static std::optional<int64_t> storedBytes(ir::StoreOp store, NumberOf numberOf) {
  std::vector<int64_t> lengths;
  for (Value length : store.getLengths()) {
    std::optional<int64_t> known = numberOf(length);
    if (!known)
      return std::nullopt;
    lengths.push_back(*known);
  }
  return bytesOf(store.getRef().getType(), lengths);
}

/// An array that is computed outside of grids is stored as it is made, where nothing else uses it.
static bool isMadeInPlace(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isInGrid(op) && !onlyShows(op) && value.hasOneUse() &&
         isa<ir::StoreOp>(*value.user_begin());
}

std::optional<OpWork> workOfOp(Operation &op, const ExtentsOf &extentsOf, NumberOf numberOf) {
  OpWork work;
  auto fold = dyn_cast<ir::FoldOp>(op);
  if (onlyShows(&op) || op.hasTrait<OpTrait::IsTerminator>() || (op.getNumRegions() > 0 && !fold) ||
      isa<ir::DimOp, ir::AllocOp>(op))
    return work;
  work.executions = 1;
  auto bytes = [&](mlir::Type type) -> std::optional<int64_t> {
    std::optional<std::vector<int64_t>> extents = extentsOf(type);
    return extents ? std::optional(bytesOf(type, *extents)) : std::nullopt;
  };
  const OpRecord *record = ir::recordOf(&op);
  auto store = dyn_cast<ir::StoreOp>(op);
  bool cuts = isa<ir::SliceOp, ir::LoadOp>(op),
       gathers = record && record->opClass == OpClass::Gather;
  work.read.assign(op.getNumOperands(), 0);
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    if (!memoryOf(operand) || (store && (operand == store.getRef() || isMadeInPlace(operand))))
      continue;
    // Of an array that is cut or gathered from, only what is taken is read.
    bool isPart = number == 0 && (cuts || gathers);
    std::optional<int64_t> read = bytes(isPart ? op.getResult(0).getType() : operand.getType());
    if (!read)
      return std::nullopt;
    work.read[number] = *read;
  }
  if (store) {
    std::optional<int64_t> stored = storedBytes(store, numberOf);
    if (!stored)
      return std::nullopt;
    work.written = *stored;
  }
  // In a grid only stores write memory; outside of grids an array is written where it is computed.
  if (!isInGrid(&op) && !ir::isFill(&op) && (record || fold))
    for (Value result : op.getResults())
      if (ir::isArrayLike(result.getType()) && !isMadeInPlace(result)) {
        std::optional<int64_t> made = bytes(result.getType());
        if (!made)
          return std::nullopt;
        work.written += *made;
      }
  if (record || fold) {
    std::optional<int64_t> operations =
        fold ? operationsOfFold(fold, extentsOf) : operationsOf(op, *record, extentsOf);
    if (!operations)
      return std::nullopt;
    work.operations = *operations;
  }
  return work;
}

} // namespace ptl
