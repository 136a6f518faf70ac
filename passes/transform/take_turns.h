// Storage that the rounds of a loop read and write anew: two of them take turns.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `for t in 0..T { s = f(s) }`, where an element of the new `s` needs several elements of the old one, makes the new array beside the old one
/// and copies it there in each round. Instead every second round reads what it read from the one storage from the other one, and writes to
/// the first: only what an odd number of rounds leaves is copied, once, behind the loop. The body stands twice then, so it has to be small.
void takeTurns(mlir::func::FuncOp function);

} // namespace ptl::ir
