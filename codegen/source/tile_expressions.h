// Values and the operations that make them, as expressions.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// A value at a use: its name if it has one, otherwise its operation, printed inline. A value that
/// cannot be expressed is reported as unwritable, and `0` is printed instead.
Expression valueText(BodyCode &code, mlir::Value value);

/// The expression of an operation, ignoring names of its results.
Expression expressionOf(BodyCode &code, mlir::Operation *op);

/// A suggested name for a value: its own name, or one after the value it is a part of, or after its
/// operation. It need not be unique.
std::string wantedName(const BodyCode &code, mlir::Value value);

} // namespace ptl::source
