// Builds `break`, `continue` and `return` inside loops. Structured control flow has no jumps, so
// each sets a flag that the loop carries, and later code of the same iteration runs only while no
// flag is set.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Whether a statement may break or continue the loop around it.
bool mayExit(const Stmt &stmt);
bool mayExit(const ptl::Block &block);
bool mayReturn(const Stmt &stmt);

/// Sets a flag of the innermost loop.
void setExit(BuildContext &c, mlir::Value ExitFlags::*flag, mlir::Location loc);
/// Leaves the outer loop after a `return` in an inner loop.
void leaveOuterLoop(BuildContext &c, mlir::Location loc);
/// Builds the statements from `from` on, which run only while no flag is set.
void buildGuarded(BuildContext &c, const std::vector<Stmt *> &stmts, size_t from);
/// Calls `build` for a block that runs only while no flag is set.
void buildUnlessExited(BuildContext &c, const ptl::Block &block, mlir::Location loc,
                       llvm::function_ref<void()> build);

} // namespace ptl::ir
