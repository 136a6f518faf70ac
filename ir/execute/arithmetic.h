// Evaluates operations of the `arith` dialect on scalars.
#pragma once

#include "codegen/reference/value.h"

#include "mlir/IR/Operation.h"

#include <optional>
#include <span>
#include <string>

namespace ptl::execute {

/// The element type of a scalar of the IR: `int` for `index`.
ElemKind kindOf(mlir::Type scalar);

/// Evaluates an operation on scalars of `arith`, or of another dialect that folds. Nothing, with
/// the reason, if it does not fold, for instance because of a division by zero.
std::optional<Scalar> evaluateArithmetic(mlir::Operation *op, std::span<const Scalar> operands,
                                         std::string &why);

} // namespace ptl::execute
