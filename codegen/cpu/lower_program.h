// The code of a program itself: what stands between its grids runs at once, after the tasks that
// touch the same memory.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// A block of a program: arrays become tasks, and what it allocates is released behind its last
/// use.
void lowerProgramBlock(Lowering &l, mlir::Block &block);
/// Emits what `body` does as code of the program itself: in front of it, it waits for the tasks
/// that conflict with what it touches. With `inTasks` what computes arrays becomes tasks. Elsewhere
/// than in a program it is emitted as it is.
void asHost(Lowering &l, llvm::function_ref<void()> body, bool inTasks = true);
/// The entry hands its arguments to the runtime, which calls the program's body.
void emitProgramEntry(Lowering &l, mlir::func::FuncOp body, llvm::StringRef name, int64_t dims,
                      int64_t scalars);

} // namespace ptl::cpu
