// Loops and grids, and the variables and ranges that they open.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::source {

/// Prints a loop; each carried value becomes a `var`, which holds the loop's result afterwards.
void printFor(BodyCode &code, mlir::scf::ForOp loop);

/// The same for a `while` loop. A condition that takes statements stands in its body.
void printWhile(BodyCode &code, mlir::scf::WhileOp loop);

/// Prints the loops of one grid and its body. A grid whose bounds depend on the variables of an
/// enclosing one stands directly inside it, and is printed together with it.
void printGrid(BodyCode &code, ir::ParallelOp grid);

} // namespace ptl::source
