// Matrix products: C[m, n] = or += sum over k of A[m, k] * B[k, n].
#pragma once

#include "codegen/cpu/memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ptl::cpu {

/// A matrix in memory: logical element type, address of [0, 0], strides in elements (index values).
struct MatrixView {
  mlir::Type element;
  mlir::Value data, rowStride, columnStride;
};

/// The type in which products of `a` and `b` accumulate, and in which C must be stored: f32, f64,
/// or a 32/64-bit integer.
mlir::Type accumulatorType(mlir::Type a, mlir::Type b);

/// Emits (once per combination of types) a blocked product for the vector unit and a call of it.
/// `c` has unit column stride. Its contents are added to if `accumulate`; otherwise they are
/// overwritten without being read. Products with one row or one column pack nothing. Extents may be
/// anything, including zero; no memory outside the matrices is touched. `context` is the runtime's
/// context, which provides scratch memory.
void emitProduct(const Emit &e, mlir::Value context, const MatrixView &a, const MatrixView &b,
                 const MatrixView &c, mlir::Value m, mlir::Value n, mlir::Value k, bool accumulate);

} // namespace ptl::cpu
