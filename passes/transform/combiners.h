// Finds the operation by which a reduction or a scan combines two values, and its identity element.
#pragma once

#include "mlir/IR/Builders.h"

namespace ptl::ir {

/// The operation that combines two partial results of a reduction or a scan.
llvm::StringRef combinerOf(mlir::Operation *op);
/// The reduction that combines by that operation: `ptl.reduce_sum` for `ptl.add`.
llvm::StringRef reductionBy(llvm::StringRef combiner);
/// A constant of an element type.
mlir::Value numberOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type elem, double value);
/// The identity element of a combiner: 0, 1, or the smallest or largest value of the type.
mlir::Value identityValue(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef combiner,
                          mlir::Type elem);

} // namespace ptl::ir
