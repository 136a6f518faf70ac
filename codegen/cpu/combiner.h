// How the elements of reductions and scans are combined.
#pragma once

#include "codegen/cpu/lowering.h"
#include "ir/dialect/op_facts.h"

namespace ptl::cpu {

/// Partial results of a reduction: their identity element, how they accept an element, and how they
/// become the result.
struct Combiner {
  OpId kind;       ///< the operation that combines two: `Add`, `Mul`, `Max`, `Min`, `And`, `Or`
  mlir::Type elem; ///< logical element type of the operand
  mlir::Type acc;  ///< register type of partial results
  bool isMean = false;

  mlir::Value identity(const Emit &e, mlir::Type shape) const;
  /// Operand register → accumulator.
  mlir::Value accept(const Emit &e, mlir::Value element) const;
  mlir::Value combine(const Emit &e, mlir::Value x, mlir::Value y) const;
  /// Combines the lanes of a vector into one scalar.
  mlir::Value horizontal(const Emit &e, mlir::Value vector) const;
  /// The result, in the registers of its type, of `count` elements.
  mlir::Value finish(const Emit &e, mlir::Value sum, mlir::Value count, mlir::Type result) const;
};

/// A logical element type whose register type is the type of partial results.
mlir::Type storedAs(const Combiner &combiner);

/// The combiner of a reduction or a scan over elements of that type.
Combiner combinerOf(mlir::Operation *op, mlir::Type elem);
/// The combiner that a scatter or an atomic store names: `add`, `max` or `min`.
Combiner combinerNamed(llvm::StringRef how, mlir::Type elem);

} // namespace ptl::cpu
