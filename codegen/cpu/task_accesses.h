// The accesses of tasks: the storages that addresses point into, and the encoding that the runtime
// reads.
#pragma once

#include "codegen/cpu/lowering.h"
#include "passes/analysis/grid_regions.h"

#include "llvm/ADT/SetVector.h"

namespace ptl::cpu {

/// The number of words of one submission. If the boxes do not fit, whole storages are declared
/// instead.
inline constexpr int64_t kSubmissionWords = 1024;

/// Whether values of the type are addresses, or vectors of them.
bool isPointer(mlir::Type type);
/// The storages that a pointer may point into: memory of the runtime, and arguments that the
/// program may write. Memory on the stack is reported by `onStack`; all other memory is never
/// written.
void rootsOf(Lowering &l, mlir::Value pointer, llvm::SetVector<mlir::Value> &roots, bool &onStack);
/// Whether anything may be written through a pointer.
bool isWrittenThrough(mlir::Value pointer);

/// Memory for the accesses of one submission or await, on the stack of the program.
mlir::Value taskWords(Lowering &l);
/// Writes one access at `position` of the words, and returns the position after it. Without a box
/// the access covers the whole storage.
int64_t storeAccess(Lowering &l, int64_t position, mlir::Value root, bool isWritten,
                    const ir::RegionBounds *box);
/// Emits a wait for the tasks that conflict with an access by the program's own code.
void emitAwait(Lowering &l, mlir::Value root, bool isWritten, const ir::RegionBounds *box);

} // namespace ptl::cpu
