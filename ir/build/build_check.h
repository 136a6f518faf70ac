// Builds conditions that are checked at run time.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// What messages call an expression: its text in backticks, or `otherwise` where that is long. In kernels only what callers know has a
/// name, because others change when a kernel is written out.
std::string namedIn(BuildContext &c, const Expr &expr, const std::string &otherwise);
/// Which axis of which array a position is of, at the end of a message: " (axis 0 of `x`)".
std::string axisIn(BuildContext &c, const Expr &array, int64_t axis);
void buildAssert(BuildContext &c, const AssertStmt &stmt);
/// Emits a check. `values` replace `{0}`, `{1}` … in the message.
void emitCheck(BuildContext &c, mlir::Value condition, const char *status,
               const std::string &message, llvm::ArrayRef<mlir::Value> values, mlir::Location loc);
/// Emits the check of a condition of the source; the message ends with the values of its operands.
void emitCondition(BuildContext &c, const Expr &condition, const char *status,
                   const std::string &message, mlir::Location loc);

} // namespace ptl::ir
