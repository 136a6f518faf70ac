// Operations of the `ptl` dialect on scalars, as the scalar unit of a core computes them.
#pragma once

#include "ir/ops/op_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace ptl::block {

/// The operation on these scalars instead of its operands, with a result of `type`; null if the
/// scalar unit does not have it.
mlir::Value scalarResult(mlir::OpBuilder &b, mlir::Operation *op, llvm::ArrayRef<mlir::Value> in,
                         mlir::Type type);

/// Operations on nothing but scalars become `arith` and `math`, where the scalar unit has them.
void lowerScalars(mlir::func::FuncOp function);

/// Combines the stored and the new value by a combiner: `Add`, `Mul`, `Max`, `Min` and so on.
mlir::Value combineScalars(mlir::OpBuilder &b, mlir::Location loc, OpId combiner, mlir::Value old,
                           mlir::Value value);

} // namespace ptl::block
