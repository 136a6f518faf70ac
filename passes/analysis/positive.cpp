#include "passes/analysis/positive.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;

namespace ptl::ir {

static bool isSame(Value a, Value b) {
  // Equal constants may be different values.
  std::optional<int64_t> constant = getConstantIntValue(a);
  return a == b || (constant && constant == getConstantIntValue(b));
}

/// The end of the range of a loop's or grid's variable; null for other values.
static Value endOf(Value counter) {
  auto argument = dyn_cast<BlockArgument>(counter);
  if (!argument)
    return {};
  Operation *loop = argument.getOwner()->getParentOp();
  if (auto each = dyn_cast<scf::ForOp>(loop))
    return argument == each.getInductionVar() ? each.getUpperBound() : Value();
  if (auto grid = dyn_cast<ParallelOp>(loop))
    return grid.getUpper()[argument.getArgNumber()];
  return {};
}

/// Whether `start` is below `end` by the loop that counts it.
static bool isBelow(Value start, Value end) {
  Value last = endOf(start);
  return last && isSame(last, end);
}

bool isPositive(Value number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return *constant > 0;
  Operation *op = number.getDefiningOp();
  if (auto dim = dyn_cast_or_null<DimOp>(op)) {
    const Extent &extent = extentsOf(dim.getSource().getType())[dim.getAxis()];
    // Only a constant extent is known; a symbol may be 0.
    return extent.isConstant() && extent.length > 0;
  }
  if (!op || op->getNumOperands() != 2)
    return false;
  Value a = op->getOperand(0), b = op->getOperand(1);
  // `end - i` is positive for each `i` that counts up to `end`.
  if (isa<arith::SubIOp>(op))
    return isBelow(b, a);
  // One positive operand makes the larger one positive.
  if (isa<arith::MaxSIOp>(op))
    return isPositive(a) || isPositive(b);
  // These keep positive operands positive.
  return isa<arith::MinSIOp, arith::AddIOp, arith::MulIOp, arith::CeilDivSIOp>(op) &&
         isPositive(a) && isPositive(b);
}

bool hasElements(Value array, int64_t axis) {
  const Extent &extent = extentsOf(array.getType())[static_cast<size_t>(axis)];
  if (extent.isConstant())
    return extent.length > 0;
  Value length = findLength(array, axis);
  return length && isPositive(length);
}

// ---- ranges of integers -------------------------------------------------------------------------

/// The variable of a loop between numbers; nothing for other values.
static std::optional<ConstantIntRanges> loopRange(Value value, unsigned width) {
  auto argument = dyn_cast<BlockArgument>(value);
  // A block that is being built may have no operation around it yet.
  auto loop =
      argument ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || loop.getInductionVar() != value)
    return std::nullopt;
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  if (!begin || !end || *begin >= *end)
    return std::nullopt;
  return ConstantIntRanges::fromSigned(APInt(width, static_cast<uint64_t>(*begin), true),
                                       APInt(width, static_cast<uint64_t>(*end - 1), true));
}

static ConstantIntRanges rangeOf(Value value, unsigned steps) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges all = ConstantIntRanges::maxRange(width);
  if (std::optional<ConstantIntRanges> own = loopRange(value, width))
    return *own;
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0)
    return all;
  // The same bits as a type with another sign, or without one.
  if (isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 1 &&
      ConstantIntRanges::getStorageBitwidth(op->getOperand(0).getType()) == width)
    return rangeOf(op->getOperand(0), steps - 1);
  auto infers = dyn_cast<InferIntRangeInterface>(op);
  if (!infers)
    return all;
  llvm::SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands()) {
    // Only integers have ranges.
    if (ConstantIntRanges::getStorageBitwidth(operand.getType()) == 0)
      return all;
    operands.push_back(rangeOf(operand, steps - 1));
  }
  infers.inferResultRanges(operands, [&](Value result, const ConstantIntRanges &range) {
    if (result == value)
      all = range;
  });
  return all;
}

bool isKnownBelow(Value number, uint64_t bound) {
  constexpr unsigned kSteps = 4;
  unsigned width = ConstantIntRanges::getStorageBitwidth(number.getType());
  return width > 0 && rangeOf(number, kSteps).umax().ult(bound);
}

bool isShiftedWithin(Value shifted, Value count) {
  return isKnownBelow(count, ConstantIntRanges::getStorageBitwidth(shifted.getType()));
}

} // namespace ptl::ir
