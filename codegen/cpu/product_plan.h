// How one product of matrices is computed, for the files that emit its parts: internal to `microkernel.h`.
#pragma once

#include "codegen/cpu/microkernel.h"

#include <functional>

namespace ptl::cpu {

/// The contents of one lane of a packed operand, and how two lanes are multiplied.
enum class ProductUnit : uint8_t {
  Number,      ///< one number of the type in which products are summed
  FloatOfByte, ///< one byte as f32, in which products of bytes and sums of them are exact
  Bf16Pair,    ///< two bf16, one after the other along the contracted axis; f32 += both products
  I16Pair,     ///< two i16, likewise; i32 += both products, by one instruction or by two
  ByteQuad,    ///< four bytes, likewise; i32 += all products, each of an unsigned and a signed byte
  /// four bytes, likewise, for 16 rows of A and 16 columns of B at once (a tile of matrix
  /// registers)
  ByteMatrix,
  Bf16Matrix, ///< two bf16, likewise
  F16Matrix,  ///< two f16, likewise
};

/// The block of C that is summed in registers at once.
struct RegisterBlock {
  int64_t rows;
  int64_t vectors; ///< side by side
};

/// The types of one product, and the register blocking.
struct ProductPlan {
  mlir::Type a, b, c; ///< logical element types of the operands; C's storage type
  ProductUnit unit;
  mlir::Type packed; ///< of a lane of packed operands
  mlir::Type sum;    ///< of a lane of a register block
  int64_t lanes;     ///< of a vector of `sum`, and of `packed`
  /// The blocks that code is made for: the widest first, and of equal width the tallest first.
  llvm::ArrayRef<RegisterBlock> blocks;
  int64_t depth; ///< most lanes along the contracted axis per packed panel
  std::string suffix;

  /// Numbers along the contracted axis per lane.
  int64_t perLane() const;
  /// Whether matrix registers multiply. Their steps along the contracted axis are as long as a
  /// vector, so packed operands are padded with zeros (`padRowsFunction`, `padPanelsFunction`).
  bool usesMatrices() const { return unit >= ProductUnit::ByteMatrix; }
  /// Whether the bytes of A are packed with an offset of 128, which makes signed ones unsigned or
  /// the reverse: a `ByteQuad` needs one operand of each kind. The sums of a block start with the
  /// correction for that offset, which is stored behind the last row of each packed panel of B
  /// (`startsFunction`).
  bool movesA() const;
  /// Rows of the largest block.
  int64_t rows() const { return blocks.front().rows; }
  int64_t vectors() const { return blocks.front().vectors; }
  int64_t columns() const { return lanes * vectors(); }
  /// Rows that a panel of packed B has room for: one more than are packed. One row of all panels is
  /// written at a time, and cache lines at a distance of a power of two would compete for few sets
  /// of the cache.
  int64_t panelRows() const { return depth + 1; }
  /// The distance of rows of packed A in lanes: an odd number of cache lines, so that rows do not
  /// compete for the same cache sets.
  int64_t pitch() const { return depth + lanes; }
};

ProductPlan makeProductPlan(mlir::Type a, mlir::Type b, mlir::Type c, const VectorUnit &unit);

/// Adds a private function at the end of the module, once per name, and fills it by `body`, unless
/// `Emit::bodies` wants only a declaration. What `body` emits must depend only on the name, the
/// types of the product and the vector unit.
mlir::func::FuncOp defineFunction(const Emit &e, const std::string &name,
                                  llvm::ArrayRef<mlir::Type> arguments,
                                  llvm::function_ref<void(const Emit &, mlir::ValueRange)> body);
void callFunction(const Emit &e, mlir::func::FuncOp function, mlir::ValueRange operands);
/// A loop over 0, step, … below `upper`.
void forEach(const Emit &e, mlir::Value upper, int64_t step,
             llvm::function_ref<void(const Emit &, mlir::Value)> body);
mlir::Value minimum(const Emit &e, mlir::Value x, mlir::Value y);
/// x / unit, rounded up.
mlir::Value countOf(const Emit &e, mlir::Value x, int64_t unit);
mlir::Value roundUpTo(const Emit &e, mlir::Value x, int64_t unit);
/// Loads elements of a logical type and converts them to lanes of type `to`. 0 lanes: one scalar.
mlir::Value loadAs(const Emit &e, mlir::Type logical, mlir::Type to, mlir::Value pointer,
                   int64_t lanes, mlir::Value mask = {});

/// (dst, pitch, src, rowStride, columnStride, rows, columns): packs a part of A: lane [r, c] of the packed rows at
/// dst[r * pitch + c]. Lanes up to the next multiple of the vector are written too, and so may be rows.
mlir::func::FuncOp packRowsFunction(const Emit &e, const ProductPlan &p);
/// (dst, src, rowStride, columnStride, rows, columns): packs a part of B in panels of `columns()` lanes: panel n is at
/// dst[n * columns() * panelRows()], row after row of it.
mlir::func::FuncOp packPanelsFunction(const Emit &e, const ProductPlan &p);

/// (from, width, c, rowStride, rows, columns, fresh): C = or += `rows` x `columns` sums that begin
/// at `from`, in rows at a distance of `width`.
mlir::func::FuncOp cornerFunction(const Emit &e, const ProductPlan &p);

/// (a, b, c, rowStride, depth, rows, columns, fresh): C = or += A * B for at most `block.rows` rows and at most the columns of the
/// block's vectors: packed A (rows `pitch` apart) times a packed panel of B. Nothing beyond `rows` and `columns` is written.
mlir::func::FuncOp blockFunction(const Emit &e, const ProductPlan &p, RegisterBlock block);

/// The packed form of four zeros of A where the plan applies the offset of 128 (`movesA`).
inline constexpr int64_t kMovedBytes = 0x80808080;
/// (b, steps, width): stores the initial sums behind the rows of packed panels of B, where the plan
/// applies the offset of 128 (`movesA`).
mlir::func::FuncOp startsFunction(const Emit &e, const ProductPlan &p);
/// (a, height, steps) and (b, steps, width): write zeros behind the lanes of packed rows of A, or the rows of packed panels of B, up to
/// the next multiple of a vector.
mlir::func::FuncOp padRowsFunction(const Emit &e, const ProductPlan &p);
mlir::func::FuncOp padPanelsFunction(const Emit &e, const ProductPlan &p);
/// Writes what blocks read from packed panels besides B (padding, initial sums), after `steps` rows
/// of `width` lanes have been packed.
void finishPanels(const Emit &e, const ProductPlan &p, mlir::Value b, mlir::Value steps,
                  mlir::Value width);
/// Like `blockFunction`, for matrix registers. It is called between `configureMatrices` and
/// `releaseMatrices`.
mlir::func::FuncOp matrixBlockFunction(const Emit &e, const ProductPlan &p, RegisterBlock block);
void configureMatrices(const Emit &e);
void releaseMatrices(const Emit &e);
/// Whether a product of such lengths is worth using matrix registers, and the system lets this
/// process use them.
mlir::Value goesByMatrices(const Emit &e, mlir::Value m, mlir::Value n);
/// The plan of the same product without matrix registers.
ProductPlan withoutMatrices(const ProductPlan &p, const VectorUnit &unit);

/// x * y + `sum`, lane by lane, in the way that the plan's unit multiplies; x belongs to A, y to B.
mlir::Value multiplyAdd(const Emit &e, const ProductPlan &p, mlir::Value x, mlir::Value y,
                        mlir::Value sum);

/// The size of parts that divide `whole` evenly: a multiple of `unit`, at most `most` (a multiple
/// of `unit`), in as few parts as possible.
mlir::Value evenParts(const Emit &e, mlir::Value whole, int64_t most, int64_t unit);
void forParts(const Emit &e, mlir::Value whole, mlir::Value part,
              llvm::function_ref<void(const Emit &, mlir::Value start, mlir::Value length)> body);

/// The arguments of a product's function.
struct Operands {
  mlir::Value context, a, aRow, aColumn, b, bRow, bColumn, c, cRow, m, n, k, fresh;

  explicit Operands(mlir::ValueRange v)
      : context(v[0]), a(v[1]), aRow(v[2]), aColumn(v[3]), b(v[4]), bRow(v[5]), bColumn(v[6]),
        c(v[7]), cRow(v[8]), m(v[9]), n(v[10]), k(v[11]), fresh(v[12]) {}

  llvm::SmallVector<mlir::Value> values() const {
    return {context, a, aRow, aColumn, b, bRow, bColumn, c, cRow, m, n, k, fresh};
  }
};

/// (context, a, aRow, aColumn, b, bRow, bColumn, c, cRow, m, n, k, fresh): a whole product. It
/// selects the way that suits its lengths and strides at run time.
mlir::func::FuncOp productFunction(const Emit &e, const ProductPlan &p);

/// (context, rounds, count, c, cRow, m, n, fresh): the sum of the products in a table of rounds.
/// The table is overwritten.
mlir::func::FuncOp sumFunction(const Emit &e, const ProductPlan &p);

/// A tile of C that packed operands contribute to: where it begins, and its numbers of rows,
/// columns and lanes along the contracted axis.
struct PackedTile {
  mlir::Value a, b, c, cRow, height, width, steps, fresh;
};
/// C = or += A * B, block by block. `blocks` are the functions of the plan's blocks; the panels of
/// B have passed `finishPanels`.
void multiplyPacked(const Emit &e, const ProductPlan &p, llvm::ArrayRef<mlir::func::FuncOp> blocks,
                    const PackedTile &tile);
/// How many rows of A and columns of B are packed at once.
std::pair<mlir::Value, mlir::Value> packedAtATime(const Emit &e, const ProductPlan &p,
                                                  mlir::Value m, mlir::Value n);

/// A way to compute a product, and the condition under which it applies.
struct Way {
  mlir::Value condition;
  std::function<void(const Emit &)> emit;
};

/// Whether there is code that reads operands of such types in place, without packing.
bool mayGoDirectly(const Emit &e, const ProductPlan &p);
/// Register blocks that read A in place, and B too if its rows are close to each other: for few
/// columns or few rows. `p` and `o` must outlive the result.
Way directWay(const Emit &e, const ProductPlan &p, const Operands &o);
/// Whether there is code for such types that streams B past a few rows of A.
bool mayStream(const Emit &e, const ProductPlan &p);
/// A few rows of A times a matrix B that is read once, in place. `p` and `o` must outlive the
/// result.
Way streamWay(const Emit &e, const ProductPlan &p, const Operands &o);

} // namespace ptl::cpu
