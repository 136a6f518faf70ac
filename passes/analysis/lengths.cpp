#include "passes/analysis/lengths.h"

#include "ir/dialect/fold.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/kept_axis.h"
#include "passes/analysis/op_info.h"

using namespace mlir;

namespace ptl::ir {

static Value lengthFrom(OpBuilder *builder, Value value, int64_t axis);

/// An operand axis with the same name: names that are equal stand for equal lengths.
static Value lengthByName(OpBuilder *builder, ValueRange operands, StringAttr name) {
  for (Value operand : operands)
    for (auto [axis, extent] : llvm::enumerate(extentsOf(operand.getType())))
      if (extent.symbol == name)
        if (Value length = lengthFrom(builder, operand, static_cast<int64_t>(axis)))
          return length;
  return {};
}

/// The length of a result of a loop or branch: that of its initial value, or of an arm's result.
/// The length may be defined in an arm.
static Value lengthThrough(Value value, StringAttr name) {
  Operation *op = value.getDefiningOp();
  auto loop = dyn_cast<scf::ForOp>(op ? op : value.getParentBlock()->getParentOp());
  if (loop)
    // A loop's result has the shape of its initial value, since shapes are loop-invariant.
    return lengthByName(nullptr, loop.getInitArgs(), name);
  auto branch = dyn_cast_or_null<scf::IfOp>(op);
  if (!branch)
    return {};
  if (Value length = lengthByName(nullptr, branch.thenYield().getOperands(), name))
    return length;
  return lengthByName(nullptr, branch.elseYield().getOperands(), name);
}

/// Whether `length`, from which `value` is made, can be read wherever `value` can.
static bool isVisibleWith(Value length, Value value) {
  return length.getParentRegion()->isAncestor(value.getParentRegion());
}

/// Operations that make new lengths have them as index operands, one per named extent, in order.
static Value lengthByOperand(Operation *op, int64_t axis) {
  llvm::ArrayRef<Extent> extents = extentsOf(op->getResult(0).getType());
  auto named = llvm::count_if(extents, [](const Extent &e) { return !e.isConstant(); });
  auto before =
      llvm::count_if(extents.take_front(axis), [](const Extent &e) { return !e.isConstant(); });
  llvm::SmallVector<Value> lengths;
  for (Value operand : op->getOperands())
    if (isa<IndexType>(operand.getType()))
      lengths.push_back(operand);
  if (static_cast<int64_t>(lengths.size()) < named)
    return {};
  // Lengths are the last index operands, behind other index operands such as offsets.
  return lengths[lengths.size() - static_cast<size_t>(named) + static_cast<size_t>(before)];
}

/// Built-ins whose named lengths are all operands.
static bool makesLengths(const OpRecord &record) {
  switch (record.id) {
  case OpId::Zeros:
  case OpId::Ones:
  case OpId::Full:
  case OpId::Index:
  case OpId::Random:
  case OpId::Reshape:
  case OpId::Broadcast:
    return true;
  default:
    return false;
  }
}

static Value lengthOfTaken(OpBuilder *builder, TakeOp take, int64_t axis) {
  auto first = static_cast<int64_t>(take.getAxis());
  int64_t taken = rankOf(take.getIndex().getType());
  // In place of the axis that is taken, the result has the axes of the positions.
  if (axis >= first && axis < first + taken)
    return lengthFrom(builder, take.getIndex(), axis - first);
  return lengthFrom(builder, take.getSource(), axis < first ? axis : axis - taken + 1);
}

/// The sum of lengths along an axis, which is computed where the builder is; nothing without one.
static Value sumOf(OpBuilder *builder, Location loc, ValueRange lengths) {
  Value sum;
  for (Value length : lengths)
    sum = sum && builder ? builder->createOrFold<arith::AddIOp>(loc, sum, length) : length;
  return builder || lengths.size() == 1 ? sum : Value();
}

/// The length of what is put together of parts, or surrounded.
static Value lengthOfParts(OpBuilder *builder, Operation *op, int64_t axis) {
  llvm::SmallVector<Value> lengths;
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    bool addsUp = static_cast<int64_t>(concat.getAxis()) == axis;
    for (Value part : concat.getXs().take_front(addsUp ? concat.getXs().size() : 1))
      lengths.push_back(lengthFrom(builder, part, axis));
  } else {
    auto pad = cast<PadOp>(op);
    lengths.push_back(lengthFrom(builder, pad.getX(), axis));
    for (ValueRange margins : {ValueRange(pad.getBefore()), ValueRange(pad.getAfter())})
      if (!margins.empty())
        lengths.push_back(margins[static_cast<size_t>(axis)]);
  }
  return llvm::all_of(lengths, [](Value length) { return length; })
             ? sumOf(builder, op->getLoc(), lengths)
             : Value();
}

/// Without a builder: nothing where only the array itself would tell.
static Value lengthFrom(OpBuilder *builder, Value value, int64_t axis) {
  const Extent &extent = extentsOf(value.getType())[axis];
  Location loc = value.getLoc();
  // Without a builder no constant can be made.
  if (extent.isConstant())
    return builder ? builder->create<arith::ConstantIndexOp>(loc, extent.length) : Value();
  Operation *op = value.getDefiningOp();
  auto dim = [&] {
    return builder ? builder->createOrFold<DimOp>(loc, builder->getIndexType(), value,
                                                  static_cast<uint64_t>(axis))
                   : Value();
  };
  if (Value length = lengthThrough(value, extent.symbol))
    if (!builder || isVisibleWith(length, value))
      return length;
  if (!op) // A block argument has no operation to look at.
    return dim();
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getLengths()[keptAxis(load.getDropped(), rankOf(load.getRef().getType()), axis)];
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice
        .getLengths()[keptAxis(slice.getDropped(), rankOf(slice.getSource().getType()), axis)];
  if (isa<CastOp, FoldOp>(op))
    return lengthFrom(builder, op->getOperand(0), axis);
  if (auto insert = dyn_cast<InsertOp>(op))
    return lengthFrom(builder, insert.getDest(), axis);
  if (auto take = dyn_cast<TakeOp>(op))
    return lengthOfTaken(builder, take, axis);
  if (auto expand = dyn_cast<NewAxisOp>(op)) {
    // The new axes before this one do not exist in the source.
    int64_t before = llvm::count_if(expand.getAxes(), [&](int64_t a) { return a < axis; });
    return lengthFrom(builder, expand.getSource(), axis - before);
  }
  if (isa<AllocOp, ViewOp>(op))
    return lengthByOperand(op, axis);
  if (isa<ConcatOp, PadOp>(op))
    if (Value length = lengthOfParts(builder, op, axis))
      return length;
  const OpRecord *record = recordOf(op);
  if (!record)
    return dim();
  // The last axis of `one_hot` has a place for each class, that of `topk` one for each of the
  // largest: the last operand says how many.
  if (isa<OneHotOp, TopkOp>(op) && axis + 1 == rankOf(value.getType()) && op->getNumOperands() > 1)
    return op->getOperands().back();
  if (makesLengths(*record))
    if (Value length = lengthByOperand(op, axis))
      return length;
  if (Value length = lengthByName(builder, op->getOperands(), extent.symbol))
    return length;
  // Of operands that broadcast, one with an extent other than 1 has the result's length.
  if (isElementwise(op))
    for (Value operand : op->getOperands()) {
      int64_t own = axis - (rankOf(value.getType()) - rankOf(operand.getType()));
      if (own >= 0 && !extentsOf(operand.getType())[own].isOne())
        return lengthFrom(builder, operand, own);
    }
  return dim();
}

Value lengthOf(OpBuilder &builder, Value value, int64_t axis) {
  return lengthFrom(&builder, value, axis);
}

Value findLength(Value value, int64_t axis) { return lengthFrom(nullptr, value, axis); }

Value countAlong(OpBuilder &builder, Location loc, Value value, llvm::ArrayRef<int64_t> axes) {
  Value count = builder.create<arith::ConstantIndexOp>(loc, 1);
  for (int64_t axis : axes)
    count = builder.createOrFold<arith::MulIOp>(loc, count, lengthOf(builder, value, axis));
  Value wide = builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), count);
  return builder.createOrFold<arith::SIToFPOp>(loc, builder.getF32Type(), wide);
}

} // namespace ptl::ir
