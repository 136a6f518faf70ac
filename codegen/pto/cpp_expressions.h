// Scalars as C++ expressions. What is used once stands where it is used.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// The expression of a value: its variable, or what computes it if it has none.
CppExpression expression(CppCode &code, mlir::Value value);

/// The same where nothing around it binds.
std::string textOf(CppCode &code, mlir::Value value);

/// What computes the result of an operation. One that has no spelling in C++ is reported.
CppExpression operationExpression(CppCode &code, mlir::Operation *op);

/// Whether an operation has no variable: pure scalars that are used once and have no name in the
/// source, and what is no longer than a name.
bool isInlined(mlir::Operation *op);

/// `a + b`, without zeros.
CppExpression sumOf(const CppExpression &a, const CppExpression &b);

} // namespace ptl::pto
