// Scalars of the IR as values: their types in registers, constants, and operations that
// ir/ops/evaluate_arith.h evaluates.
#pragma once

#include "ir/ops/evaluate_arith.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The element type of a register that holds such a scalar: `index` is an integer of 64 bits. None
/// for what is no scalar of the language.
std::optional<ElemKind> registerKindOf(mlir::Type type);

/// A constant as a value; none where it is no scalar.
std::optional<Scalar> scalarOf(mlir::Attribute constant);
/// A value as a constant of that type, of which an integer keeps the low bits.
mlir::Attribute constantOf(Scalar value, mlir::Type type);

/// Which row of the table an operation is; none for others.
std::optional<ArithOp> arithOpOf(mlir::Operation *op);
/// The same with its types; none, too, where the number of operands is not that of the row or a
/// type is no scalar.
std::optional<ArithUse> arithUseOf(mlir::Operation *op);

} // namespace ptl::ir
