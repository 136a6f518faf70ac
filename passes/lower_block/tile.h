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

/// A logical matrix: static capacities, and lengths as `index` values.
struct Extents2 {
  int64_t rows = 1, cols = 1;
  mlir::Value validRows, validCols;
};

/// A box of an array in global memory that is at most rows and columns of a matrix with unit column
/// stride.
struct MemoryBox {
  mlir::Value pointer; ///< to element 0 of the array
  mlir::Value base;    ///< elements in front of the matrix that the box is cut from; null: 0
  mlir::Value matrixRows, matrixCols; ///< extents of that matrix
  mlir::Value rowStride;              ///< elements
  mlir::Value row, col;               ///< the first row and column of the box
  /// an i1 that is false if the box is empty; null: it never is
  mlir::Value present;
};

/// The lowered form of an array value of the tile level.
struct Tile {
  enum class Form {
    Whole,  ///< rows x cols in `vec`, row-major
    Column, ///< one value per row, contiguous
    Mask,   ///< packed bits of a comparison
    Splat,  ///< a scalar that stands for all elements
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
  mlir::Value start;       ///< Matrix: start of a piece along the contracted axis; null: 0
  mlir::Value column;      ///< Matrix: start along the other axis of a right operand; null: 0
  mlir::Value operand;     ///< Matrix: the left operand's buffer that already holds it; null: none
  /// Of an operand of a block-scaled product: the scales of its rows (for a right operand, of its
  /// columns) in memory. For a piece with a `start` they are those of the whole.
  std::shared_ptr<const MemoryBox> scales;
  bool isRow() const { return extents.rows == 1; }
};

/// Tiles by their values. A tile keeps its address until it is erased, so that code may hold a
/// reference to the tile of an operand while it sets that of a result; a map that moves its
/// elements when it grows would leave dangling references.
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

/// The form in which numbers of these extents are stored.
inline Tile::Form formOf(const Extents2 &extents) {
  return extents.cols == 1 && extents.rows > 1 ? Tile::Form::Column : Tile::Form::Whole;
}
/// The form in which a computed value of this tile's extents and element type is stored.
inline Tile::Form formOf(const Tile &tile) {
  return tile.element.isInteger(1) ? Tile::Form::Mask : formOf(tile.extents);
}

/// Positions along the axes of an array, or their lengths.
using Indices = llvm::ArrayRef<mlir::Value>;
using IndexVector = llvm::SmallVector<mlir::Value, 4>;

/// A tile with the lengths of the axes of its array.
struct ShapedTile {
  Tile tile;
  IndexVector lengths;
};

/// The positions in the source and in the result for a position in the box that is moved.
struct Ends {
  IndexVector from, to;
};

/// How a box of elements is moved: along its last axis as rows (`inRows`), or element by element.
struct Movement {
  IndexVector lengths;
  bool inRows = false;
  /// If set, row n of the matrix comes from row n + `shift` for all rows, so that one instruction
  /// moves them all.
  std::optional<int64_t> shift = {};
  std::function<Ends(Indices)> ends;
  std::function<mlir::Value(Indices)> isInside; ///< null: always inside; else returns an i1
};

/// The box of a load, slice or store.
struct BoxOperands {
  mlir::Value array;
  mlir::ValueRange offsets, lengths, steps;
  llvm::ArrayRef<int64_t> dropped;
  mlir::Value outside;
};

BoxOperands operandsOf(mlir::Operation *op);
/// Whether such a box is a matrix, or a part of one: it lies completely inside, and has no steps but along its rows.
bool isMatrixBox(const BoxOperands &in, mlir::Type boxType);
/// Whether a value has the extents of the box to which it is stored; otherwise it is repeated.
bool fillsBox(ir::StoreOp store);

/// An axis of a box of global memory.
struct GlobalAxis {
  mlir::Value length, stride; ///< of the box; stride in elements
  mlir::Value offset, step;   ///< start and step of the box along the axis of the array
  mlir::Value extent;         ///< of the array
};

/// A box of global memory with any axes.
struct GlobalBox {
  mlir::Value pointer, base; ///< base: number of elements in front of the first
  llvm::SmallVector<GlobalAxis, 4> axes, fixed;
  mlir::Value present; ///< as in MemoryBox
};

/// The destination of a store.
struct StoreTarget {
  const GlobalBox *box;
  mlir::Type element;
  std::function<mlir::Value(Indices)> position; ///< number of elements in front of that of the box
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  bool indexed = false;     ///< an index array gives the positions of an axis
  bool indexedLast = false; ///< and that axis is the last one
};

/// A loop whose iterations overlap, so that buffers of its body rotate.
struct Rotation {
  mlir::Operation *loop = nullptr; ///< buffers are allocated in front of it
  mlir::Value slot;                ///< number of the iteration
  int64_t count = 1;
};

/// A value that has been pushed and is to be popped for its first user.
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

/// A queue whose slots are global memory that both sides access directly (`Queue::isRing`).
struct Ring {
  mlir::Value pointer; ///< to the slots of this core group, in row-major order
  mlir::StringAttr name;
  mlir::Type element;
  int64_t rows = 1, cols = 1; ///< of a slot
  int64_t slots = 1;          ///< in flight
  int64_t period = 1;         ///< the consumer frees so many slots at once
  int64_t flag = 0;           ///< signals that a slot is full; the next flag that slots are free
  bool toVector = false;
};

/// A slot of a ring that is freed after the last operation that loads from it.
struct TakenSlot {
  mlir::Value value;
  mlir::Value number; ///< of the iteration
  mlir::Operation *last = nullptr;
};

using ir::storedType;

} // namespace ptl::block
