// Expresses tensor operations that are not arithmetic by reads and writes of boxes of storage. Then
// every array outside of grids is either computed in tiles or stored.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "machines/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::ir {

/// Rewrites what stands outside of grids: `concat`, `pad`, `insert`, `gather`, `scatter`,
/// triangles, orderings of long axes, means, reductions to scalars and of truth values; first the
/// variables of loops and branches
/// (`storeCarried`). Afterwards stores have values of the shape of their boxes, made by operations
/// of their own. `tileBytes`: of the largest tile. `machine`: whose instructions decide how elements
/// are gathered from long rows; null: one by one.
void expandTensors(mlir::func::FuncOp function, int64_t tileBytes, const Machine *machine);

/// Arrays that loops and branches outside of grids carry become storage.
void storeCarried(mlir::func::FuncOp function);

/// Parts by position: `x[ids, :]` and stores through such a list become grids.
void expandTake(TakeOp take);
void expandScatter(StoreOp store);
/// Such a store element by element, whatever its box and its value are.
void storeByElements(StoreOp store);
/// The above, and elements by position: `gather` and `scatter` become grids. False for others.
bool expandByPosition(mlir::Operation *op, int64_t tileBytes, const Machine *machine);
/// Whether a value is a part of an array that reaches beyond the edges; such a part becomes storage
/// that holds what lies outside, and inside what is there. False for others.
bool reachesOutside(mlir::Operation *op);
bool expandOutside(mlir::Operation *op);
/// A number of any integer type as a position.
mlir::Value asPosition(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number);

/// Products in index notation and those with vectors become products of matrices.
void expandProducts(mlir::func::FuncOp function);

/// Products of known lengths that have fewer tiles than the machine has core groups, and a long
/// contracted axis, become sums of products of its parts where that is predicted to take less time.
void splitContractions(mlir::func::FuncOp function, const Machine &machine);

/// Loops of few rounds outside of grids that add a product to an array in each become one product of
/// operands that lie side by side; `tileBytes`: of the largest tile that is copied.
void stackSums(mlir::func::FuncOp function, const Machine &machine, int64_t tileBytes);

/// `softmax(q @ k.T) @ v` becomes one grid that keeps the scores on chip, where rows of blocks keep
/// enough core groups busy; where that depends on lengths, a branch decides. `halvings`: how often
/// blocks are halved for room.
void makeAttentions(mlir::func::FuncOp function, const Machine &machine, int64_t halvings);

/// One element of each short row (`boxes[:, 0]`) becomes a row of an array in which the rows are columns.
void turnShortRows(mlir::func::FuncOp function);

/// Operands of products whose elements lie apart in memory become arrays of their own.
void storeScatteredOperands(mlir::func::FuncOp function);

/// `argmax` and `argmin` along few long rows become two folds; where that depends on lengths, a branch decides.
void searchLongRows(mlir::func::FuncOp function);

/// `argmax` and `argmin` of floats that may be NaN, also of the tiles in grids: a NaN is found apart from the numbers, for which
/// machines have instructions.
void searchNumbers(mlir::func::FuncOp function);

/// Stores of grids that chips cannot do atomically: what is there is read and written by a grid of
/// one point that loops over the points.
void serialiseAtomics(mlir::func::FuncOp function);

/// An ordering along an axis: where tiles cannot hold it, parts are sorted and merged through
/// storage.
void expandOrder(mlir::Operation *op, int64_t tileBytes);

} // namespace ptl::ir
