// Literals, and how their types are determined.
#pragma once

#include "codegen/source/body_code.h"
#include "codegen/source/tile_source.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// A constant. `typed`: the context does not determine its type, so a conversion is printed unless
/// it has the default type.
Expression literalText(mlir::Attribute value, mlir::Type type, bool typed);

/// What stands behind a parameter of the type: ` = 0.1`; empty if the parameter has no default.
std::string defaultText(const EntryFacts &facts, const std::string &parameter, mlir::Type type);

/// The attribute of the constant that defines `value`; null if it is not a constant.
mlir::Attribute constantAttribute(mlir::Value value);

/// An operand of a built-in: a literal, or a converted position, takes its type from another
/// operand where possible.
Expression operandText(BodyCode &code, mlir::Operation *op, mlir::Value operand);

/// Marks the conversions of positions whose range a check covers (`ptl.range_checked`), before the
/// check is removed.
void noteConversions(ir::CheckOp check);

/// Whether such a conversion is printed as a name with a type, `let n: i32 = T - S`, because its
/// use does not determine the type.
bool needsTypedName(mlir::Operation *op);

} // namespace ptl::source
