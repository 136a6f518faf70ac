// Operations of the `arith` dialect on scalars.
#pragma once

#include "codegen/reference/value.h"

#include "mlir/IR/Operation.h"

#include <optional>
#include <span>
#include <string>

namespace ptl::execute {

/// The element type of a scalar of the IR: `int` for `index`.
ElemKind kindOf(mlir::Type scalar);

/// The result of an operation on scalars of `arith`, or of another dialect that folds. Nothing, and
/// why, for what does not fold, such as a division by zero.
std::optional<Scalar> evaluateArithmetic(mlir::Operation *op, std::span<const Scalar> operands,
                                         std::string &why);

} // namespace ptl::execute
