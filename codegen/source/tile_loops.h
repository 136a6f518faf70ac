// Loops and grids, and the variables and ranges that they open.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::source {

/// Prints a loop; each value that it carries is a `var`, which its result is afterwards.
void printFor(BodyCode &code, mlir::scf::ForOp loop);

/// The same for a loop with a condition, which has to be one expression.
void printWhile(BodyCode &code, mlir::scf::WhileOp loop);

/// Prints the loops of one grid, and what is in it. Grids whose bounds depend on the variables of
/// another one stand directly inside of it, and are printed with it.
void printGrid(BodyCode &code, ir::ParallelOp grid);

} // namespace ptl::source
