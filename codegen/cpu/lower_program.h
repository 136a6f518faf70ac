// The code of a program itself: what stands between its grids runs on the submitting thread, after
// the tasks that conflict with it.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lowers a block of a program: operations on arrays become tasks, and what the block allocates is
/// released after its last use.
void lowerProgramBlock(Lowering &l, mlir::Block &block);
/// Emits `body` as code of the program itself, after a wait for the tasks that conflict with the
/// memory it touches. With `inTasks`, whatever computes arrays still becomes a task. Outside a
/// program `body` is simply emitted.
void asHost(Lowering &l, llvm::function_ref<void()> body, bool inTasks = true);
/// Emits the entry of a program: it hands its arguments to the runtime, which calls the program's
/// body.
void emitProgramEntry(Lowering &l, mlir::func::FuncOp body, llvm::StringRef name, int64_t dims,
                      int64_t scalars);

} // namespace ptl::cpu
