// Arithmetic of scalars that no built-in stands for (`ir/ops/arith_ops.def`).
#pragma once

#include "codegen/source/body_code.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ptl::source {

/// An operation as the scalar unit computes it; nothing for others.
std::optional<Expression> scalarText(BodyCode &code, mlir::Operation *op);

/// The operands of a comparison compared by `predicate`, which may be another than its own.
Expression comparedIntegers(BodyCode &code, mlir::arith::CmpIOp op,
                            mlir::arith::CmpIPredicate predicate);

} // namespace ptl::source
