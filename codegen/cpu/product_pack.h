// Packs the operands of products.
#pragma once

#include "codegen/cpu/product_pieces.h"

namespace ptl::cpu {

/// The function (dst, src, rowStride, columnStride, inner, outer, first, rows, columns): like
/// `packPanelsFunction`, from column `first` on, for columns whose layout is that of a
/// `ProductRound`.
mlir::func::FuncOp packApartFunction(const Emit &e, const ProductPlan &p);

/// Rows of a matrix in memory: where they begin and how far apart they are, in numbers. No count: all exist that are asked for.
struct MatrixRows {
  mlir::Value data, stride, count;
};
/// Vectors of lanes of B as panels hold them, from where B lies: of the columns from `column` on, which are side by side, in lane `row`
/// along the contracted axis. `left` is how many columns exist; without it, and without a count of rows, all that are asked for do.
llvm::SmallVector<mlir::Value> lanesInPlace(const Emit &e, const ProductPlan &p,
                                            const MatrixRows &b, mlir::Value row,
                                            mlir::Value column, mlir::Value left, int64_t vectors);

} // namespace ptl::cpu
