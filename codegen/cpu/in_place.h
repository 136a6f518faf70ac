// Which new values may be written over what a loop carries, and whether two views are one.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The memory from which an address was computed.
mlir::Value memoryOf(mlir::Value pointer);
/// Whether both views are known to have the same elements at the same positions.
bool sameView(const View &a, const View &b);
/// Whether each element of the operation comes from the element of the operand at the same place.
bool staysInPlace(mlir::Operation *op, mlir::Value operand);

/// The storage that each round of a loop makes for the next one of a value that it carries, if it may be the storage of that value:
/// one grid fills it, reads what is carried only where it writes, element by element, and nothing else reads either of both from then on.
/// Null otherwise. `carried` is the argument of the loop's body, `next` what it yields.
ir::AllocOp storageInPlace(mlir::BlockArgument carried, mlir::Value next);

/// Whether a loop works on a value of the loop around it, whose next one is the result, and nothing else uses either of both.
bool continuesCarried(mlir::scf::ForOp loop, unsigned number);

} // namespace ptl::cpu
