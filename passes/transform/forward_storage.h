// Removes storage whose contents are only copied elsewhere: the values are written to the place of
// the copy at once.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Storage whose whole content is stored into other storage in the end becomes that storage, where
/// nothing reads or writes the other one meanwhile: what a kernel gives back and an output takes is
/// written there at once. What a turn of a loop copies, changes and puts back is changed in place,
/// where the old content is not asked for any more by then.
void forwardStorage(mlir::func::FuncOp function);

} // namespace ptl::ir
