// Creates operations on arrays whose lengths are known.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace ptl::ir {

class KnownArrays {
public:
  KnownArrays(mlir::OpBuilder &builder, mlir::Location loc) : b_(builder), loc_(loc) {}

  ArrayType typeOf(mlir::Value like, llvm::ArrayRef<int64_t> lengths) const {
    llvm::SmallVector<Extent> extents;
    for (int64_t length : lengths)
      extents.push_back(Extent::constant(length));
    return arrayTypeOf(elementTypeOf(like.getType()), extents);
  }
  mlir::Value reshaped(mlir::Value value, llvm::ArrayRef<int64_t> lengths) const {
    mlir::OperationState state(loc_, ReshapeOp::getOperationName());
    state.addOperands(value);
    state.addTypes(typeOf(value, lengths));
    return b_.create(state)->getResult(0);
  }
  /// The box of `lengths` that begins at `offsets`, without the axes `dropped`, whose extent is 1.
  /// Beyond the edges of `value` it reads as `outside`; without `outside` it must lie inside.
  mlir::Value box(mlir::Value value, llvm::ArrayRef<int64_t> offsets,
                  llvm::ArrayRef<int64_t> lengths, llvm::ArrayRef<int64_t> dropped = {},
                  mlir::Value outside = {}) const {
    llvm::SmallVector<int64_t> kept;
    for (size_t axis = 0; axis < lengths.size(); ++axis)
      if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
        kept.push_back(lengths[axis]);
    return b_.create<SliceOp>(loc_, typeOf(value, kept), value, numbers(offsets), numbers(lengths),
                              mlir::ValueRange(), outside, b_.getDenseI64ArrayAttr(dropped));
  }
  /// Creates an operation by its name; its result has these lengths.
  mlir::Value make(llvm::StringRef name, mlir::ValueRange operands, llvm::ArrayRef<int64_t> lengths,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) const {
    mlir::OperationState state(loc_, name);
    state.addOperands(operands);
    state.addAttributes(attributes);
    state.addTypes(typeOf(operands.front(), lengths));
    return b_.create(state)->getResult(0);
  }

private:
  llvm::SmallVector<mlir::Value> numbers(llvm::ArrayRef<int64_t> values) const {
    llvm::SmallVector<mlir::Value> all;
    for (int64_t value : values)
      all.push_back(b_.create<mlir::arith::ConstantIndexOp>(loc_, value));
    return all;
  }

  mlir::OpBuilder &b_;
  mlir::Location loc_;
};

} // namespace ptl::ir
