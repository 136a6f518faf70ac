// Operations with one result, made from their names where the class is not known when this is compiled, or where the class has no
// builder that takes its result's type, operands and attributes.
#pragma once

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The result of the operation `name`; its operands and attributes are those of its record, in that order.
inline mlir::Value makeOp(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                          mlir::Type type, mlir::ValueRange operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
  return b.create(loc, b.getStringAttr(name), operands, type, attributes)->getResult(0);
}

template <typename Op>
mlir::Value makeOp(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                   mlir::ValueRange operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
  return makeOp(b, loc, Op::getOperationName(), type, operands, attributes);
}

} // namespace ptl::ir
