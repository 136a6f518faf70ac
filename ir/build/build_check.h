// Conditions that are checked when the program runs.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

void buildAssert(BuildContext &c, const AssertStmt &stmt);
/// `values` stand in the message where it says `{0}`, `{1}` …
void emitCheck(BuildContext &c, mlir::Value condition, const char *status,
               const std::string &message, llvm::ArrayRef<mlir::Value> values, mlir::Location loc);
/// A condition of the source: the message goes on with the values that it is about.
void emitCondition(BuildContext &c, const Expr &condition, const char *status,
                   const std::string &message, mlir::Location loc);

} // namespace ptl::ir
