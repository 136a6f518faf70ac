// Combines elements for reductions and scans.
#pragma once

#include "codegen/cpu/lowering.h"
#include "ir/dialect/op_facts.h"

namespace ptl::cpu {

/// How partial results of a reduction start, accept an element, and end.
struct Combiner {
  OpId kind;       ///< the operation that joins two: `Add`, `Mul`, `Max`, `Min`, `And`, `Or`
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

/// A logical element type whose registers are those of partial results.
mlir::Type storedAs(const Combiner &combiner);

/// What a reduction or a scan of elements of that type combines with.
Combiner combinerOf(mlir::Operation *op, mlir::Type elem);
/// The one that a scatter or an atomic store names: `add`, `max` or `min`.
Combiner combinerNamed(llvm::StringRef how, mlir::Type elem);

} // namespace ptl::cpu
