// The common parts of functions that multiply blocks, by vector instructions or by matrix
// registers.
#pragma once

#include "codegen/cpu/product_plan.h"

namespace ptl::cpu {

/// The arguments of a block's function, in the order in which `blockFunction` lists them, and the
/// size of the block.
struct BlockArguments {
  const ProductPlan &p;
  RegisterBlock size;
  mlir::Value a, b, c, rowStride, depth, rows, columns, fresh;

  BlockArguments(const ProductPlan &p, RegisterBlock size, mlir::ValueRange v)
      : p(p), size(size), a(v[0]), b(v[1]), c(v[2]), rowStride(v[3]), depth(v[4]), rows(v[5]),
        columns(v[6]), fresh(v[7]) {}

  int64_t width() const { return size.vectors * p.lanes; }
  /// Whether C has all rows and columns of the block, so that nothing need be cut off.
  mlir::Value isWhole(const Emit &e) const;
  /// Adds sums that lie in memory row by row to the rows and columns that C has, by calling
  /// `corner`, a `cornerFunction`.
  void storeCorner(const Emit &e, mlir::func::FuncOp corner, mlir::Value whole) const;
};

/// Defines the function of a block of this size; `body` emits its code from its arguments.
mlir::func::FuncOp defineBlock(const Emit &outer, const ProductPlan &p, RegisterBlock size,
                               llvm::function_ref<void(const Emit &, mlir::ValueRange)> body);

} // namespace ptl::cpu
