#include "passes/transform/narrow_axis.h"

#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

static size_t countAxes(Value value) { return extentsOf(value.getType()).size(); }

Type withExtent(Type type, size_t axis, const Extent &extent) {
  auto array = cast<ArrayType>(type);
  llvm::SmallVector<Extent> extents(array.getExtents());
  extents[axis] = extent;
  return arrayTypeOf(array.getElementType(), extents);
}

Value cloneWith(OpBuilder &builder, Operation *op, llvm::ArrayRef<Value> operands, Type type) {
  return makeOp(builder, op->getLoc(), op->getName().getStringRef(), type, operands,
                op->getAttrs());
}

Value cutAlong(OpBuilder &builder, Value value, size_t axis, Value offset, Value length,
               const Extent &extent) {
  Location loc = value.getLoc();
  llvm::SmallVector<Value> offsets, lengths;
  for (size_t i = 0; i < countAxes(value); ++i) {
    offsets.push_back(i == axis && offset ? offset
                                          : builder.create<arith::ConstantIndexOp>(loc, 0));
    lengths.push_back(i == axis ? length : lengthOf(builder, value, static_cast<int64_t>(i)));
  }
  return builder.create<SliceOp>(loc, withExtent(value.getType(), axis, extent), value, offsets,
                                 lengths, ValueRange(), Value(), builder.getDenseI64ArrayAttr({}));
}

/// The part of a result by the parts of operands; null where the operation is not done anew.
Value AxisPart::ofOperation(Operation *op, size_t axis) {
  Value value = op->getResult(0);
  size_t whole = countAxes(value);
  Type type = withExtent(value.getType(), axis, extent_);
  if (isElementwise(op)) {
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      size_t rank = countAxes(operand);
      // Axes align at the end, so an operand of lower rank may lack this one.
      bool hasAxis = rank > 0 && rank + axis >= whole;
      operands.push_back(hasAxis ? of(operand, rank + axis - whole) : operand);
    }
    return cloneWith(b_, op, operands, type);
  }
  // Columns of a product need columns of the right factor only. With another user the whole product would be computed as well.
  if (auto product = dyn_cast<MatmulOp>(op); product && product.getScales().empty() &&
                                             value.hasOneUse() && axis + 1 == whole &&
                                             countAxes(product.getOperand(1)) >= 2) {
    Value right = product.getOperand(1);
    return cloneWith(b_, op, {product.getOperand(0), of(right, countAxes(right) - 1)}, type);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    auto from = static_cast<size_t>(transpose.getAxes()[axis]);
    return cloneWith(b_, op, {of(transpose.getOperand(), from)}, type);
  }
  return {};
}

Value AxisPart::of(Value value, size_t axis) {
  // Of what is as long, whatever its name, a part is needed; one position is for all of them.
  if (!isa<ArrayType>(value.getType()) || extentsOf(value.getType())[axis].isOne())
    return value;
  if (Value part = known(value, axis))
    return part;
  Operation *op = value.getDefiningOp();
  Value part = op && op->getBlock() == block_ ? ofOperation(op, axis) : Value();
  if (!part)
    part = cutAlong(b_, value, axis, offset_, length_, extent_);
  set(value, axis, part);
  return part;
}

} // namespace ptl::ir
