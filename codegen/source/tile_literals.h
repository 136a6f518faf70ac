// Literals, and what says of which type they are.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// A constant. `typed`: nothing around it says its type, so that a conversion does unless the type is
/// the usual one.
Expression literalText(mlir::Attribute value, mlir::Type type, bool typed);

/// The attribute of a constant that `value` is; null: it is none.
mlir::Attribute constantAttribute(mlir::Value value);

/// An operand of a built-in: a literal, or a position that is converted, takes its type from another
/// operand where it can.
Expression operandText(BodyCode &code, mlir::Operation *op, mlir::Value operand);

/// Marks the conversions of positions whose range a check is about (`ptl.range_checked`), before it
/// goes.
void noteConversions(ir::CheckOp check);

/// Whether such a conversion is written with a name that says the type, `let n: i32 = T - S`: where
/// it is used nothing else would.
bool needsTypedName(mlir::Operation *op);

} // namespace ptl::source
