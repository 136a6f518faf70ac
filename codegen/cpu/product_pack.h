// Packs the operands of products.
#pragma once

#include "codegen/cpu/product_pieces.h"

namespace ptl::cpu {

/// The function (dst, src, rowStride, columnStride, inner, outer, first, rows, columns): like
/// `packPanelsFunction`, from column `first` on, for columns whose layout is that of a
/// `ProductRound`.
mlir::func::FuncOp packApartFunction(const Emit &e, const ProductPlan &p);

} // namespace ptl::cpu
