// Builds conditions that are checked at run time.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildAssert(BuildContext &c, const AssertStmt &stmt);
/// Emits a check. `values` replace `{0}`, `{1}` … in the message.
void emitCheck(BuildContext &c, mlir::Value condition, const char *status,
               const std::string &message, llvm::ArrayRef<mlir::Value> values, mlir::Location loc);
/// Emits the check of a condition of the source; the message ends with the values of its operands.
void emitCondition(BuildContext &c, const Expr &condition, const char *status,
                   const std::string &message, mlir::Location loc);

} // namespace ptl::ir
