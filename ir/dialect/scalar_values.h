// Scalars of the IR as values: their types in registers, constants, and the operations that
// ir/ops/evaluate_arith.h evaluates.
#pragma once

#include "ir/ops/evaluate_arith.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The element type of a register that holds such a scalar: `index` is an integer of 64 bits.
/// Nothing for types that are not scalars of the language.
std::optional<ElemKind> registerKindOf(mlir::Type type);

/// A constant as a value; nothing if it is not a scalar.
std::optional<Scalar> scalarOf(mlir::Attribute constant);
/// A value as a constant of that type; for an integer type the low bits are kept.
mlir::Attribute constantOf(Scalar value, mlir::Type type);

/// The row of the table for an operation; nothing for other operations.
std::optional<ArithOp> arithOpOf(mlir::Operation *op);
/// The row with its types; also nothing if the number of operands differs from that of the row, or
/// a type is not a scalar.
std::optional<ArithUse> arithUseOf(mlir::Operation *op);

} // namespace ptl::ir
