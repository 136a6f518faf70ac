// Scalars as C++ expressions. A scalar with one use is printed inline at that use.
#pragma once

#include "codegen/pto/cpp_code.h"

namespace ptl::pto {

/// The expression of a value: its variable, or its computation if it has no variable.
CppExpression expression(CppCode &code, mlir::Value value);

/// The text of that expression for a context that needs no parentheses.
std::string textOf(CppCode &code, mlir::Value value);

/// The expression that computes an operation's result. An operation that has no form in C++ is
/// reported as an error.
CppExpression operationExpression(CppCode &code, mlir::Operation *op);

/// Whether an operation gets no variable: pure scalars that have one use, no name in the source and
/// not too many operations in their text, and expressions that are no longer than a name.
bool isInlined(mlir::Operation *op);

/// `a + b`, where zeros are left out.
CppExpression sumOf(const CppExpression &a, const CppExpression &b);

} // namespace ptl::pto
