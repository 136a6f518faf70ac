// Removes storage whose contents are only copied elsewhere: values are written directly to the
// destination of the copy.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// The store that copies all of the storage to other storage, if that is the last thing that happens to it; null otherwise.
StoreOp finalCopy(AllocOp alloc);
/// Replaces storage by other storage, to which `copy` copied it, and removes the copy.
void replaceByTarget(StoreOp copy, AllocOp alloc, mlir::Value by);

/// Replaces storage whose contents are finally copied to other storage by that other storage, if
/// nothing accesses the latter in between. So the result of a kernel that becomes an output is
/// written directly to the output. An array that an iteration of a loop copies, modifies and stores
/// back is modified in place if nothing reads the old contents afterwards.
void forwardStorage(mlir::func::FuncOp function);

/// Whoever loads a box that the same block has stored before takes the value that was stored, if nothing else has
/// touched the storage since. So what an array becomes may be computed together with what is computed from it.
void forwardValues(mlir::func::FuncOp function);

} // namespace ptl::ir
