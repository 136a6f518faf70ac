// What is computed from arrays that are put together, where their parts meet.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// `y = x + concat(x[H - 1:H, :], x[0:H - 1, :], axis: 0)` needs no copy of `x`: its first row is computed from one part, and the others from
/// the other one. So are elements of `pad`, and of parts by positions that count: `x[(index(0..H) + 1) % H, :]` are two parts of `x`, and
/// with `clamp` the rows at an edge are one row. What is computed element by element from such arrays outside of grids is stored region by region,
/// each of which reads parts alone, as slices. Where the order of the places at which parts meet depends on lengths, a branch asks for it.
void cutByParts(mlir::func::FuncOp function);

} // namespace ptl::ir
