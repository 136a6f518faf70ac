// Builds `break`, `continue` and `return` inside loops. Structured control flow has no jumps, so
// each sets a flag that the loop carries, and the remaining code of the iteration is guarded by the
// flags.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// Whether a statement may break or continue its loop.
bool mayExit(const Stmt &stmt);
bool mayExit(const ptl::Block &block);
bool mayReturn(const Stmt &stmt);

/// Sets a flag of the innermost loop.
void setExit(BuildContext &c, mlir::Value ExitFlags::*flag, mlir::Location loc);
/// Leaves the outer loop after a `return` in an inner loop.
void leaveOuterLoop(BuildContext &c, const Stmt &loop, mlir::Location loc);
/// Builds the statements from `from` on, guarded by the flags.
void buildGuarded(BuildContext &c, const std::vector<Stmt *> &stmts, size_t from);
/// Calls `build` for a block that is guarded by the flags.
void buildUnlessExited(BuildContext &c, const ptl::Block &block, mlir::Location loc,
                       llvm::function_ref<void()> build);

} // namespace ptl::ir
