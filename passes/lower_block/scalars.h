// Operations of the `ptl` dialect on scalars, for the scalar unit of a core.
#pragma once

#include "ir/ops/op_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace ptl::block {

/// Emits the operation on these scalars, which replace its operands, with a result of `type`; null
/// if the scalar unit lacks it.
mlir::Value scalarResult(mlir::OpBuilder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> in,
                         mlir::Type type);

/// Replaces operations on scalars only by `arith` and `math`, where the scalar unit has them.
void lowerScalars(mlir::func::FuncOp function);

/// Combines the stored and the new value by a combiner: `Add`, `Mul`, `Max`, `Min` and so on.
mlir::Value combineScalars(mlir::OpBuilder &b, mlir::Location loc, OpId combiner, mlir::Value old,
                           mlir::Value value);

} // namespace ptl::block
