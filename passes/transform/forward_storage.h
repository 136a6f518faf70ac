// Removes storage whose contents are only copied elsewhere: the values are written to the place of
// the copy at once.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Replaces storage whose whole content is finally copied to other storage by that other storage, if
/// nothing reads or writes the other one meanwhile. So the result of a kernel that becomes an output is
/// written to the output at once. An array that an iteration of a loop copies, changes and stores back
/// is changed in place if nothing reads the old content afterwards.
void forwardStorage(mlir::func::FuncOp function);

} // namespace ptl::ir
