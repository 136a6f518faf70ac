// The lowered forms of values of the tile level: matrices with capacities, tiles in their forms,
// boxes of global memory.
#pragma once

#include "ir/dialect/element_types.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <memory>

namespace ptl::block {

using mlir::Location;
using mlir::Operation;
using mlir::Type;
using mlir::Value;

/// A logical matrix: capacities, and lengths as `index` values.
struct Extents2 {
  int64_t rows = 1, cols = 1;
  mlir::Value validRows, validCols;
};

/// A box of an array in global memory: rows and columns of a matrix with unit column stride, at
/// most.
struct MemoryBox {
  mlir::Value pointer; ///< to element 0 of the array
  mlir::Value base;    ///< elements before the matrix that the box is cut from; null: none
  mlir::Value matrixRows, matrixCols; ///< extents of that matrix
  mlir::Value rowStride;              ///< elements
  mlir::Value row, col;               ///< where the box begins
  mlir::Value present;                ///< an i1 that is false where the box is empty; null: never
};

/// The lowered form of an array value of the tile level.
struct Tile {
  enum class Form {
    Whole,  ///< rows x cols in `vec`, row-major
    Column, ///< one value per row, stored one behind the other
    Mask,   ///< packed bits of a comparison
    Splat,  ///< one scalar everywhere
    Memory, ///< still in global memory
    Matrix, ///< staged in `mat` for the cube
    Acc,    ///< in the accumulator
  };
  Form form = Form::Whole;
  Extents2 extents;
  mlir::Type element;
  mlir::Value buffer;
  mlir::Value scalar;
  MemoryBox box;
  bool transposed = false; ///< Memory: stands for the transposed box; Matrix: its buffer holds the
                           ///< transposed matrix
  bool relu = false;       ///< Acc: the store replaces negative numbers by 0
  mlir::Value start;       ///< Matrix: where along the contracted axis a piece begins; null: at 0
  mlir::Value column;      ///< Matrix: where along the other axis of a right operand; null: at 0
  mlir::Value operand; ///< Matrix: the buffer of the left operand that holds it already; null: none
  /// Of an operand of a block-scaled product: the scales of its rows as they lie in memory, those of a right operand of its
  /// columns. Where the operand is a piece with a `start` they begin before it, as the whole does.
  std::shared_ptr<const MemoryBox> scales;
  bool isRow() const { return extents.rows == 1; }
};

/// Tiles by their values. A tile keeps its address until it is erased, so that code may hold a
/// reference to the tile of an operand while it sets that of a result; a map that moves its
/// elements as it grows would leave a dangling reference, in some runs only.
class TileMap {
public:
  const Tile *find(mlir::Value value) const {
    auto found = tiles_.find(value);
    return found == tiles_.end() ? nullptr : found->second.get();
  }
  void set(mlir::Value value, const Tile &tile) {
    std::unique_ptr<Tile> &place = tiles_[value];
    if (place)
      *place = tile;
    else
      place = std::make_unique<Tile>(tile);
  }
  void erase(mlir::Value value) { tiles_.erase(value); }

private:
  llvm::DenseMap<mlir::Value, std::unique_ptr<Tile>> tiles_;
};

/// The form in which a value of these extents and element type is kept once it is computed.
inline Tile::Form formOf(const Tile &tile) {
  if (tile.element.isInteger(1))
    return Tile::Form::Mask;
  return tile.extents.cols == 1 && tile.extents.rows > 1 ? Tile::Form::Column : Tile::Form::Whole;
}

/// Positions along the axes of an array, or their lengths.
using Indices = llvm::ArrayRef<mlir::Value>;
using IndexVector = llvm::SmallVector<mlir::Value, 4>;

/// A tile with the lengths of the axes of its array.
struct ShapedTile {
  Tile tile;
  IndexVector lengths;
};

/// The positions in the source and in the result that belong to those in the box that is moved.
struct Ends {
  IndexVector from, to;
};

/// How a box of elements moves: along its last axis side by side (`inRows`), or each by itself.
struct Movement {
  IndexVector lengths;
  bool inRows = false;
  /// Row n of a matrix comes from row n + `shift`, if there is one, and all rows move as they are:
  /// then one instruction moves them.
  std::optional<int64_t> shift = {};
  std::function<Ends(Indices)> ends;
  std::function<mlir::Value(Indices)> isInside; ///< null: everywhere; else an i1
};

/// The box of a load, slice or store.
struct BoxOperands {
  mlir::Value array;
  mlir::ValueRange offsets, lengths, steps;
  llvm::ArrayRef<int64_t> dropped;
  mlir::Value outside;
};

BoxOperands operandsOf(mlir::Operation *op);
/// Whether such a box is a matrix, or a part of one: all of it is inside, and it has no steps.
bool isMatrixBox(const BoxOperands &in, mlir::Type boxType);

/// An axis of a box of global memory.
struct GlobalAxis {
  mlir::Value length, stride; ///< of the box; elements from one position to the next
  mlir::Value offset, step;   ///< where it begins and goes along the axis of the array
  mlir::Value extent;         ///< of the array
};

/// A box of global memory with any axes.
struct GlobalBox {
  mlir::Value pointer, base; ///< base: elements before the first
  llvm::SmallVector<GlobalAxis, 4> axes, fixed;
  mlir::Value present; ///< as in MemoryBox
};

/// The destination of a store.
struct StoreTarget {
  const GlobalBox *box;
  mlir::Type element;
  std::function<mlir::Value(Indices)> position; ///< elements before that of the box
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  bool indexed = false;     ///< an index says where an axis goes
  bool indexedLast = false; ///< and that is the last one
};

/// A loop whose iterations overlap: buffers of its body rotate.
struct Rotation {
  mlir::Operation *loop = nullptr; ///< buffers are made before it
  mlir::Value slot;                ///< number of the iteration
  int64_t count = 1;
};

/// A value that has been pushed and is popped for its first user.
struct Waiting {
  mlir::Value queue, value;
  mlir::Operation *user;
};

/// A slot of a queue that is freed after the last use of its value.
struct Popped {
  mlir::Value queue;
  mlir::IntegerAttr split;
  mlir::Value value;
};

/// A queue whose slots are global memory that both sides reach by themselves (`Queue::isRing`).
struct Ring {
  mlir::Value pointer; ///< to the slots of this core group, one row of a slot after the other
  mlir::StringAttr name;
  mlir::Type element;
  int64_t rows = 1, cols = 1; ///< of a slot
  int64_t slots = 1;          ///< in flight
  int64_t period = 1;         ///< the consumer gives so many slots back at once
  int64_t flag = 0;           ///< says that a slot is full; the next one that slots are free
  bool toVector = false;
};

/// A slot of a ring that is given back after the last operation that loads from it.
struct TakenSlot {
  mlir::Value value;
  mlir::Value number; ///< of the round
  mlir::Operation *last = nullptr;
};

using ir::storedType;

} // namespace ptl::block
