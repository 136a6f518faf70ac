// Arithmetic on scalars that has no built-in (`ir/ops/arith_ops.def`).
#pragma once

#include "codegen/source/body_code.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ptl::source {

/// An operation of the scalar unit; nothing for other operations.
std::optional<Expression> scalarText(BodyCode &code, mlir::Operation *op);

/// The comparison of the operands by `predicate`, which may differ from the operation's own.
Expression comparedIntegers(BodyCode &code, mlir::arith::CmpIOp op,
                            mlir::arith::CmpIPredicate predicate);

} // namespace ptl::source
