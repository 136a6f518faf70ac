// Accesses elements of tiles by position, and moves boxes of elements row by row or one by one.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// A tile with the lengths of the axes of its type.
ShapedTile shaped(KernelContext &c, const Tile &tile, Type type);
/// The sum of two positions.
Value plus(KernelContext &c, Value a, Value b);
/// The product of two positions.
Value times(KernelContext &c, Value a, Value b);
/// Converts a number of any integer type to a position.
Value asPosition(KernelContext &c, Value scalar);
/// The row, in the tile's matrix, of a position: rows of several axes are contiguous.
Value rowAt(KernelContext &c, const ShapedTile &shape, Indices at);
/// Emits a loop for each axis; `body` emits the code for the positions.
void forEach(KernelContext &c, Indices lengths, llvm::function_ref<void(Indices)> body);
/// Emits a branch on a condition.
void branch(mlir::OpBuilder &b, Location loc, Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);
/// Reads one element on the scalar unit.
Value readElement(KernelContext &c, const ShapedTile &shape, Indices at);
/// Writes one element on the scalar unit.
void writeElement(KernelContext &c, const ShapedTile &shape, Indices at, Value value);
/// A window of a buffer that begins at this row and column, as a tile.
Value window(KernelContext &c, Value buffer, Value row, Value col, int64_t rows, int64_t cols,
             Value validRows, Value validCols);
/// Whether parts of rows of `shape` that begin at this column may be windows, which have to begin at whole
/// blocks, for a move to or from `other`.
bool movesInRows(const KernelContext &c, const ShapedTile &shape, Value firstCol,
                 const ShapedTile &other);
/// Moves a box of elements: row by row through windows where possible, otherwise one by one.
void move(KernelContext &c, const ShapedTile &from, const ShapedTile &to, const Movement &movement,
          Location loc);
/// Moves what a matrix and a larger or smaller one have in common, from their first rows and columns on, at
/// once or row by row. False, with nothing done, where only elements can be moved.
bool moveToCorner(KernelContext &c, const ShapedTile &from, const ShapedTile &to,
                  mlir::Location loc);
/// Rows of one buffer of which every second element goes to rows of another one.
struct EverySecond {
  Value from, fromRow, to, toRow; ///< buffers, and the first row in each
  int64_t capacity;               ///< most rows
  Value rows, span, count;        ///< rows, and elements of each in `from` and in `to`
  bool fromSecond;                ///< the second element of each pair
  bool isFilled =
      false; ///< rows of `from` have elements up to their ends, where these are not `span` long
};
void takeEverySecond(KernelContext &c, const EverySecond &take);
/// Whether a machine has an instruction for that.
bool takesEverySecond(const KernelContext &c, const ShapedTile &to);
/// How many elements of a row reach from the first to the last one of every second one.
Value spanOfEverySecond(KernelContext &c, Value count);
/// Whether a machine has this instruction for operands of these element types.
bool takes(const Machine &machine, InstructionId id, llvm::ArrayRef<Type> types);
inline bool takes(const KernelContext &c, InstructionId id, llvm::ArrayRef<Type> types) {
  return takes(c.machine, id, types);
}

} // namespace ptl::block
