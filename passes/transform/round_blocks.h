// Loops whose rounds read and write a row of memory each.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::ir {

/// Moves positions that are the same in all rounds in front of their loop.
void hoistPositions(mlir::scf::ForOp loop);

/// Whether an offset goes on or back by one from round to round of a loop whose positions are hoisted.
bool goesWithRounds(mlir::scf::ForOp loop, mlir::Value offset);

/// Whether rounds of the loop, or of one in it, read or write a row or column each that lies beside that of the
/// next round, so that `blockRounds` would change something: true if there are columns, nothing if there is neither.
/// Positions that are the same in all rounds move in front of their loop.
std::optional<bool> rowsOfRounds(mlir::scf::ForOp loop);

/// The same of the loop alone, whatever loops are in it, with rows and columns alike.
bool hasRowsOfRounds(mlir::scf::ForOp loop);

/// `for t in 0..T { s = f(s, x[t, :]) ; y[t, :] = s }` in a point of a grid waits for memory in each round. The
/// loops that have `rowsOfRounds` are executed in blocks of `rounds`: the rows of a block are loaded at once
/// (columns are turned into rows), what follows from them alone is computed for the whole block, the rounds read
/// and write rows of these tiles, and what they wrote is stored at once. `number` names the lengths of blocks and is counted up. The loop is replaced if it changes.
void blockRounds(mlir::scf::ForOp loop, int64_t rounds, unsigned &number);

} // namespace ptl::ir
