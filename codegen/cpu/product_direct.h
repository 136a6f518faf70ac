// Products whose operands are read in place.
#pragma once

#include "codegen/cpu/product_pieces.h"

namespace ptl::cpu {

/// Whether an allocation has succeeded, that is, the pointer is not null.
mlir::Value isThere(const Emit &e, mlir::Value pointer);
/// Whether a product reads both operands in place, without packing.
mlir::Value readsBothInPlace(const Emit &e, const ProductPlan &p, const Operands &o);

} // namespace ptl::cpu
