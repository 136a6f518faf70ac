// Boxes that replace elements of an array which nobody reads any more: they are stored into its memory.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Says that the memory of an array is that of a loop alone, which may write to it once the elements are no longer needed.
void mayOverwrite(Lowering &l, mlir::Value array);

/// Stores the box into the memory of the array that it replaces elements of, and binds the result to that memory, if the memory may be
/// written and everything else that reads the array has been lowered before. Otherwise emits nothing and returns false.
bool insertInPlace(Lowering &l, ir::InsertOp op);

/// For each result of a branch the array whose memory both arms may leave the result in: boxes are stored there in one arm or in both, and
/// behind the branch only the result is read. Null for other results.
llvm::SmallVector<mlir::Value> arraysOfArms(Lowering &l, mlir::scf::IfOp op);

} // namespace ptl::cpu
