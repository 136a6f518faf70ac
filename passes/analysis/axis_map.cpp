#include "passes/analysis/axis_map.h"

#include "ir/dialect/fold.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

using Maps = llvm::SmallVector<AxisMap>;

static AxisMap whole(Value value) {
  return AxisMap(static_cast<size_t>(rankOf(value.getType())), kWhole);
}

/// Axes align at the end; an extent of 1 is broadcast and so needed whole.
static AxisMap broadcastMap(Value operand, const AxisMap &result) {
  AxisMap map = whole(operand);
  llvm::ArrayRef<Extent> extents = extentsOf(operand.getType());
  size_t shift = result.size() - std::min(result.size(), map.size());
  for (size_t axis = 0; axis < map.size(); ++axis)
    if (!extents[axis].isOne())
      map[axis] = result[axis + shift];
  return map;
}

static std::optional<Maps> reductionMaps(Operation *op, const AxisMap &result) {
  if (result.empty()) // A scalar: everything is needed.
    return Maps{whole(op->getOperand(0))};
  // The result has the folded axes with extent 1, so they align with the operand's.
  AxisMap map = result;
  for (int64_t axis : foldedAxesOf(op))
    map[static_cast<size_t>(axis)] = kWhole;
  return Maps{map};
}

/// `[.., M, K] @ [.., K, N]`; vectors on either side lack M or N.
static std::optional<Maps> productMaps(Operation *op, const AxisMap &result) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  AxisMap mapA = whole(a), mapB = whole(b);
  // Axes of the result that are those of the matrices: none, M, N, or both.
  size_t own = (mapA.size() > 1 ? 1 : 0) + (mapB.size() > 1 ? 1 : 0);
  if (result.size() < own)
    return std::nullopt;
  size_t batches = result.size() - own;
  if (mapA.size() > 1)
    mapA[mapA.size() - 2] = result[batches];
  if (mapB.size() > 1)
    mapB[mapB.size() - 1] = result.back();
  auto batch = [&](AxisMap &map, Value operand) {
    for (size_t axis = 0; axis + 2 < map.size(); ++axis)
      if (!extentsOf(operand.getType())[axis].isOne())
        map[axis] = result[axis + batches + 2 - map.size()];
  };
  batch(mapA, a);
  batch(mapB, b);
  return Maps{mapA, mapB};
}

/// Operations that work along one axis and leave the others independent: scans and sorts.
static std::optional<Maps> alongAxisMaps(Operation *op, const AxisMap &result) {
  // Each element depends on all others along that axis.
  if (result[axisAlong(op)] != kWhole)
    return std::nullopt;
  Maps maps;
  // Operands of another rank are counts or the like.
  for (Value operand : op->getOperands())
    maps.push_back(
        rankOf(operand.getType()) == static_cast<int64_t>(result.size()) ? result : whole(operand));
  return maps;
}

static std::optional<Maps> transposeMaps(Operation *op, const AxisMap &result) {
  auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  AxisMap map = whole(op->getOperand(0));
  for (size_t i = 0; i < result.size(); ++i)
    map[static_cast<size_t>(axes[i])] = result[i];
  return Maps{map};
}

static std::optional<Maps> newAxisMaps(NewAxisOp op, const AxisMap &result) {
  AxisMap map;
  for (size_t axis = 0; axis < result.size(); ++axis)
    if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)))
      map.push_back(result[axis]);
  return Maps{map};
}

/// Positions along one axis stand in an array of their own, whose axes the result has there; what they choose from is needed whole
/// along that axis.
static Maps takeMaps(TakeOp op, const AxisMap &result) {
  auto axis = static_cast<ptrdiff_t>(op.getAxis());
  auto taken = static_cast<ptrdiff_t>(rankOf(op.getIndex().getType()));
  AxisMap source(result.begin(), result.begin() + axis);
  source.push_back(kWhole);
  source.append(result.begin() + axis + taken, result.end());
  return Maps{source, AxisMap(result.begin() + axis, result.begin() + axis + taken)};
}

/// Each element has a position of its own.
static Maps gatherMaps(GatherOp op, const AxisMap &result) {
  AxisMap source = result;
  source[static_cast<size_t>(op.getAxis())] = kWhole;
  return Maps{source, result};
}

std::optional<AxisMap> axesBeforeDrop(SliceOp slice, const AxisMap &result) {
  if (slice.getOutside() || !slice.getSteps().empty() || slice.getDropped().empty())
    return std::nullopt;
  AxisMap map;
  size_t next = 0;
  llvm::ArrayRef<Extent> kept = extentsOf(slice.getType());
  for (auto [axis, extent] : llvm::enumerate(extentsOf(slice.getSource().getType()))) {
    bool isDropped = llvm::is_contained(slice.getDropped(), static_cast<int64_t>(axis));
    // Equal names stand for equal lengths.
    if (!matchPattern(slice.getOffsets()[axis], m_Zero()) ||
        (isDropped ? !extent.isOne() : extent != kept[next]))
      return std::nullopt;
    map.push_back(isDropped ? kWhole : result[next++]);
  }
  return map;
}

bool dropsFromTiles(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice || !isa<ArrayType>(slice.getType()))
    return false;
  Operation *made = slice.getSource().getDefiningOp();
  return made && isTiled(made) && axesBeforeDrop(slice, whole(slice.getResult()));
}

std::optional<llvm::SmallVector<AxisMap>> operandAxes(Operation *op, const AxisMap &result) {
  if (isElementwise(op)) {
    Maps maps;
    for (Value operand : op->getOperands())
      maps.push_back(broadcastMap(operand, result));
    return maps;
  }
  if (isa<CastOp>(op))
    return Maps{result};
  if (auto expand = dyn_cast<NewAxisOp>(op))
    return newAxisMaps(expand, result);
  if (auto take = dyn_cast<TakeOp>(op))
    return takeMaps(take, result);
  if (auto gather = dyn_cast<GatherOp>(op))
    return gatherMaps(gather, result);
  if (isa<TopkOp, FoldOp>(op)) // all results have the same axes
    return alongAxisMaps(op, result);
  const OpRecord *record = recordOf(op);
  if (!record || op->getNumResults() != 1)
    return std::nullopt;
  switch (record->opClass) {
  case OpClass::Reduction:
    return reductionMaps(op, result);
  case OpClass::Scan:
    return alongAxisMaps(op, result);
  case OpClass::Sort:
    return alongAxisMaps(op, result);
  case OpClass::Product:
    return record->id == OpId::Matmul ? productMaps(op, result) : std::nullopt;
  default:
    break;
  }
  if (record->id == OpId::Transpose)
    return transposeMaps(op, result);
  if (record->id == OpId::Broadcast)
    return Maps(op->getNumOperands(), broadcastMap(op->getOperand(0), result));
  return std::nullopt;
}

} // namespace ptl::ir
