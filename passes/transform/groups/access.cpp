#include "passes/transform/groups/access.h"

#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

AxisMap Access::map() const {
  AxisMap ids;
  for (const AxisAccess &axis : axes)
    ids.push_back(axis.id);
  return ids;
}

bool sameLength(const Extent &a, const Extent &b) {
  // Names that are equal stand for equal lengths; a constant only equals a constant.
  return a.isConstant() || b.isConstant() ? a.length == b.length : a.symbol == b.symbol;
}

static void throughNewAxes(NewAxisOp op, Access &access) {
  llvm::SmallVector<AxisAccess, 4> kept;
  for (auto [axis, own] : llvm::enumerate(access.axes))
    if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)))
      kept.push_back(own);
  access.axes = kept;
}

static void throughTranspose(TransposeOp op, Access &access) {
  auto order = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  llvm::SmallVector<AxisAccess, 4> axes(access.axes.size());
  for (size_t i = 0; i < order.size(); ++i)
    axes[static_cast<size_t>(order[i])] = access.axes[i];
  access.axes = axes;
}

static void throughBroadcast(BroadcastOp op, Access &access) {
  llvm::ArrayRef<Extent> extents = extentsOf(op->getOperand(0).getType());
  // Axes that the broadcast added do not exist in its source.
  access.axes.erase(access.axes.begin(), access.axes.end() - static_cast<long>(extents.size()));
  for (auto [axis, extent] : llvm::enumerate(extents))
    // An axis that repeats is read at its only position.
    if (extent.isOne())
      access.axes[axis] = {kWhole, {}, {}, access.axes[axis].tag};
}

/// `offset + step * position` of the slice becomes a position of its source.
static void throughSlice(SliceOp op, Access &access, OpBuilder *builder) {
  llvm::ArrayRef<Extent> source = extentsOf(op.getSource().getType());
  llvm::SmallVector<AxisAccess, 4> axes;
  size_t next = 0;
  Location loc = op.getLoc();
  for (size_t axis = 0; axis < source.size(); ++axis) {
    bool dropped = llvm::is_contained(op.getDropped(), static_cast<int64_t>(axis));
    AxisAccess own = dropped ? AxisAccess() : access.axes[next];
    // A slice that covers its source whole, without shift or step, is no box.
    bool whole =
        dropped ? source[axis].isOne() : sameLength(source[axis], extentsOf(op.getType())[next]);
    next += dropped ? 0 : 1;
    Value offset = op.getOffsets()[axis];
    Value step = op.getSteps().empty() ? Value() : op.getSteps()[axis];
    if (step && matchPattern(step, m_One()))
      step = {};
    bool shifts = !matchPattern(offset, m_Zero());
    access.isBox |= !whole || shifts || step;
    // Outer steps scale what the inner view added: source = offset + step * (own offset + ...).
    // Without a builder only the axes and `isBox` are asked for, and no code may be made.
    if (builder && step && own.offset)
      own.offset = builder->createOrFold<arith::MulIOp>(loc, own.offset, step);
    if (builder && step)
      own.step = own.step ? builder->createOrFold<arith::MulIOp>(loc, own.step, step) : step;
    if (builder && shifts)
      own.offset =
          own.offset ? builder->createOrFold<arith::AddIOp>(loc, own.offset, offset) : offset;
    axes.push_back(own);
  }
  access.axes = axes;
}

Access originOf(Access access, OpBuilder *builder) {
  while (Operation *op = access.origin.getDefiningOp()) {
    // Views are followed up to what really holds the elements.
    if (!isView(op))
      break;
    if (auto newAxes = dyn_cast<NewAxisOp>(op))
      throughNewAxes(newAxes, access);
    else if (auto transpose = dyn_cast<TransposeOp>(op))
      throughTranspose(transpose, access);
    else if (auto broadcast = dyn_cast<BroadcastOp>(op))
      throughBroadcast(broadcast, access);
    else if (auto slice = dyn_cast<SliceOp>(op))
      throughSlice(slice, access, builder);
    access.origin = op->getOperand(0);
  }
  return access;
}

Access accessTo(Value value, const AxisMap &map) {
  Access access;
  access.origin = value;
  for (int64_t id : map)
    access.axes.push_back({id, {}, {}, 0});
  return access;
}

Access originOf(Value value, const AxisMap &map, OpBuilder *builder) {
  return originOf(accessTo(value, map), builder);
}

} // namespace ptl::ir
