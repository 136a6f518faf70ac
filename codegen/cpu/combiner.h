// Combines elements for reductions and scans.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

enum class CombineKind : uint8_t { Sum, Prod, Max, Min, Mean, Any, All };

/// How partial results of a reduction start, accept an element, and end.
struct Combiner {
  CombineKind kind;
  mlir::Type elem; ///< logical element type of the operand
  mlir::Type acc;  ///< register type of partial results

  mlir::Value identity(const Emit &e, mlir::Type shape) const;
  /// Operand register → accumulator.
  mlir::Value accept(const Emit &e, mlir::Value element) const;
  mlir::Value combine(const Emit &e, mlir::Value x, mlir::Value y) const;
  /// Combines the lanes of a vector into one scalar.
  mlir::Value horizontal(const Emit &e, mlir::Value vector) const;
  /// The result, in the registers of its type, of `count` elements.
  mlir::Value finish(const Emit &e, mlir::Value sum, mlir::Value count, mlir::Type result) const;
};

/// The kind of a reduction or scan; none for other operations.
std::optional<CombineKind> kindOf(mlir::Operation *op);
Combiner makeCombiner(CombineKind kind, mlir::Type elem);

} // namespace ptl::cpu
