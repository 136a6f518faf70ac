// Pieces of sums of products: internal to the files that implement `product_rounds.h`.
#pragma once

#include "codegen/cpu/product_plan.h"

namespace ptl::cpu {

/// A product of a sum, or a part of one along the contracted axis. The struct mirrors its record in
/// memory.
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
  mlir::Value lanes;   ///< the sum of all pieces' lanes along the contracted axis
  mlir::Value columns; ///< of C
  mlir::Value fresh;
};

/// A run of pieces that are packed together: the first, how many, their total lanes, and whether C
/// is overwritten.
struct PieceRun {
  mlir::Value first, count, lanes, fresh;
};

/// A loop over runs, each as long as fits the packed panels.
void forRuns(const Emit &e, const ProductPlan &p, const Pieces &pieces,
             llvm::function_ref<void(const Emit &, const PieceRun &)> body);
/// Packs `width` columns of B, from `column` on, of a run into panels; the pieces follow each other
/// along the contracted axis.
void packRun(const Emit &e, const ProductPlan &p, const Pieces &pieces, const PieceRun &run,
             mlir::Value packedB, mlir::Value column, mlir::Value width);

/// A sum whose operand A is read in place, while B is packed.
struct DirectSum {
  const ProductPlan &p;
  const Pieces &pieces;
  mlir::Value context, c, cRow, m, n;

  /// Whether C has so few columns that packing A would not pay off.
  mlir::Value isNarrow(const Emit &e) const;
  void emit(const Emit &e) const;
};

} // namespace ptl::cpu
