// Pieces of sums of products, for the files that emit them: internal to `product_rounds.h`.
#pragma once

#include "codegen/cpu/product_plan.h"

namespace ptl::cpu {

/// A product of a sum, or a part of one along the contracted axis, as it stands in memory.
struct Piece {
  enum Field : uint8_t {
    A,
    ARow,
    AColumn,
    AOuter,
    AInner,
    B,
    BRow,
    BColumn,
    BOuter,
    BInner,
    Numbers,
    Fields
  };
  llvm::SmallVector<mlir::Value, Fields> values; ///< by field

  static Piece load(const Emit &e, mlir::Value table, mlir::Value position);
  void store(const Emit &e, mlir::Value table, mlir::Value position) const;
  mlir::Value &operator[](Field field) { return values[field]; }
  mlir::Value operator[](Field field) const { return values[field]; }
};

/// All pieces of a sum.
struct Pieces {
  mlir::Value table, count;
  mlir::Value lanes;   ///< of all along the contracted axis
  mlir::Value columns; ///< of C
  mlir::Value fresh;
};

/// Pieces that are packed together: which, how many, how many lanes they have, and whether they overwrite C.
struct PieceRun {
  mlir::Value first, count, lanes, fresh;
};

/// A loop over runs, each of which panels have room for.
void forRuns(const Emit &e, const ProductPlan &p, const Pieces &pieces,
             llvm::function_ref<void(const Emit &, const PieceRun &)> body);
/// Packs `width` columns of B of a run from `column` on in panels, its pieces below each other.
void packRun(const Emit &e, const ProductPlan &p, const Pieces &pieces, const PieceRun &run,
             mlir::Value packedB, mlir::Value column, mlir::Value width);
/// (dst, src, rowStride, columnStride, inner, outer, first, rows, columns): as `packPanelsFunction`, from column `first` on of columns
/// that lie as those of a `ProductRound` do.
mlir::func::FuncOp packApartFunction(const Emit &e, const ProductPlan &p);

/// A sum whose rows of A are read where they lie, while B is packed.
struct DirectSum {
  const ProductPlan &p;
  const Pieces &pieces;
  mlir::Value context, c, cRow, m, n;

  /// Whether there are so few columns that packing A would not pay.
  mlir::Value isNarrow(const Emit &e) const;
  void emit(const Emit &e) const;
};

/// Whether an allocation has succeeded.
mlir::Value isThere(const Emit &e, mlir::Value pointer);
/// Whether a product reads both operands where they lie.
mlir::Value readsBothInPlace(const Emit &e, const ProductPlan &p, const Operands &o);

} // namespace ptl::cpu
