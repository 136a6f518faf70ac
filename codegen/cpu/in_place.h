// Alias questions: which new values may overwrite a value that a loop carries, and whether two
// views are the same.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The allocation or argument that an address was computed from.
mlir::Value memoryOf(mlir::Value pointer);
/// Whether both views certainly have the same elements at the same positions.
bool sameView(const View &a, const View &b);
/// Whether each element of the result depends, of this operand, only on the element at the same
/// position.
bool staysInPlace(mlir::Operation *op, mlir::Value operand);

/// The storage that each iteration of a loop allocates for the next value of a carried array, if it
/// may share the storage of the carried array. That is so if one grid fills it, reads the carried
/// array only at the positions that it writes, element by element, and nothing else reads either
/// array from then on. Otherwise null. `carried` is the argument of the loop's body, `next` what
/// the body yields.
ir::AllocOp storageInPlace(mlir::BlockArgument carried, mlir::Value next);

/// Whether an inner loop carries on a value that the outer loop carries: it begins with that value,
/// its result is the outer loop's next value, and neither has another use.
bool continuesCarried(mlir::scf::ForOp loop, unsigned number);

} // namespace ptl::cpu
