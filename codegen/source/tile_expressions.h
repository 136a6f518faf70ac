// Values and the operations that make them, as expressions.
#pragma once

#include "codegen/source/body_code.h"

namespace ptl::source {

/// A value where it is used: by its name if it has one, else its operation is written out. What the
/// text cannot say is noted as such, and `0` stands for it.
Expression valueText(BodyCode &code, mlir::Value value);

/// What an operation computes, without regard to names that its results have.
Expression expressionOf(BodyCode &code, mlir::Operation *op);

/// A name for a value that needs one: its own, or after what it is a part of, or what made it. It
/// may be taken.
std::string wantedName(const BodyCode &code, mlir::Value value);

} // namespace ptl::source
