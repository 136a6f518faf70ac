// Expresses tensor operations that are not arithmetic by reads and writes of boxes of storage.
// Afterwards every array outside grids is either computed in tiles or stored.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "machines/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Rewrites the code outside grids: `concat`, `pad`, `insert`, `gather`, `scatter`, triangles,
/// sorting along long axes, means, reductions to scalars and of booleans; first of all the
/// variables of loops and branches (`storeCarried`). Afterwards every store's value has the shape
/// of its box and a defining operation of its own. `tileBytes`: of the largest tile. `machine`: its
/// instructions decide how elements are gathered from long rows; null: one by one.
void expandTensors(mlir::func::FuncOp function, int64_t tileBytes, const Machine *machine);

/// Turns arrays that loops and branches outside grids carry into storage.
void storeCarried(mlir::func::FuncOp function);

/// Expands parts by position: `x[ids, :]`, and stores through such a list, become grids.
void expandTake(TakeOp take);
void expandScatter(StoreOp store);
/// Expands such a store element by element, for any box and value.
void storeByElements(StoreOp store);
/// The above, and elements by position: `gather` and `scatter` become grids. False for other
/// operations.
bool expandByPosition(mlir::Operation *op, int64_t tileBytes, const Machine *machine);
/// `scatter` by positions that are sorted first. False where the machine lacks instructions for it, or
/// where positions are so few that elements are written one by one.
bool expandScatterInOrder(ScatterOp scatter, int64_t tileBytes, const Machine *machine);
/// Expands a part of an array that reaches beyond the edges: it becomes storage that is filled with
/// the outside value and then with the elements of the array. False for other operations.
bool reachesOutside(mlir::Operation *op);
bool expandOutside(mlir::Operation *op);
/// Whether the elements of an array lie one behind the other in memory, or will.
bool liesInOrder(mlir::Value array);
/// Converts a number of any integer type to a position.
mlir::Value asPosition(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number);

/// Turns products in index notation and products with vectors into products of matrices.
void expandProducts(mlir::func::FuncOp function);

/// Splits products of known lengths that have fewer tiles than the machine has core groups, and a
/// long contracted axis, into sums of products of its parts (split-K), if the predicted time is
/// shorter.
void splitContractions(mlir::func::FuncOp function, const Machine &machine);

/// Turns loops of few iterations outside grids that each add a product to an array into one product
/// of operands that are stored side by side; `tileBytes`: of the largest tile that is copied.
void stackSums(mlir::func::FuncOp function, const Machine &machine, int64_t tileBytes);

/// Turns `softmax(q @ k.T) @ v` into one grid that keeps the scores on chip, if the blocks of rows
/// occupy enough core groups; if that depends on lengths, a branch decides at run time. `halvings`:
/// how often blocks are halved to save memory.
void makeAttentions(mlir::func::FuncOp function, const Machine &machine, int64_t halvings);

/// Transposes short rows of which single elements are read (`boxes[:, 0]`): each such column
/// becomes a row of an array.
void turnShortRows(mlir::func::FuncOp function);

/// Stores operands of products whose elements are not contiguous in arrays of their own.
void storeScatteredOperands(mlir::func::FuncOp function);

/// `argmax` and `argmin` along few long rows become two folds; where that depends on lengths, a branch decides.
void searchLongRows(mlir::func::FuncOp function);

/// `argmax` and `argmin` of floats that may be NaN, also of the tiles in grids: a NaN is found apart from the numbers, for which
/// machines have instructions.
void searchNumbers(mlir::func::FuncOp function);

/// Expands stores of grids that chips cannot execute atomically: a grid of one point loops over the
/// points, and reads and writes the stored elements.
void serialiseAtomics(mlir::func::FuncOp function);

/// Expands a sort along an axis: if tiles cannot hold the axis, parts are sorted and merged through
/// storage.
void expandOrder(mlir::Operation *op, int64_t tileBytes);

} // namespace ptl::ir
