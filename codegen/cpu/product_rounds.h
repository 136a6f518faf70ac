// Sums of products: C[m, n] = or += the sum over rounds r of A_r * B_r, as loops of the source add them up. All rounds together are one
// contraction: C stays in registers through as many rounds as panels have room for.
#pragma once

#include "codegen/cpu/microkernel.h"

namespace ptl::cpu {

/// One product of a sum. Its columns may be those of several rows that lie apart, as the pixels of an image are where a filter has
/// moved: column j is number `j % inner` of row `j / inner`, and such rows are `outer` elements apart.
struct ProductRound {
  MatrixView a, b;
  mlir::Value k; ///< numbers along the contracted axis
  mlir::Value inner,
      outer; ///< null where columns are even: column j is `j * b.columnStride` from the first
};

/// Rounds in memory, in the order in which they are summed.
class RoundTable {
public:
  /// Of 64 bits, for one round.
  static constexpr int64_t Words = 9;
  /// `memory` has room for all rounds; `columns` is how many each product has.
  RoundTable(mlir::Value context, mlir::Value memory, mlir::Value columns)
      : context_(context), memory_(memory), columns_(columns) {}

  void store(const Emit &e, mlir::Value position, const ProductRound &round) const;
  /// Emits a call of the blocked sum of the first `count` rounds, all of which have operands of types `a` and `b`, m rows and n
  /// columns. `c` is as in `emitProduct`, and so is `accumulate`. What is stored of the rounds is gone behind it.
  void emitSum(const Emit &e, mlir::Type a, mlir::Type b, const MatrixView &c, mlir::Value m,
               mlir::Value count, bool accumulate) const;

private:
  mlir::Value context_, memory_, columns_;
};

} // namespace ptl::cpu
