// Sums of products: C[m, n] = or += the sum over rounds r of A_r * B_r, as loops of the source add
// them up. All rounds together are computed as one contraction: sums stay in registers over as many
// rounds as fit the packed panels.
#pragma once

#include "codegen/cpu/microkernel.h"

namespace ptl::cpu {

/// One product of a sum. Its columns may come from several rows that are not contiguous, like the
/// pixels of an image that a filter has been shifted over: column j is element `j % inner` of row
/// `j / inner`, and such rows are `outer` elements apart.
struct ProductRound {
  MatrixView a, b;
  mlir::Value k; ///< numbers along the contracted axis
  /// `outer` is null if columns are evenly spaced: column j is at `j * b.columnStride` from the
  /// first.
  mlir::Value inner, outer;
};

/// A table of rounds in memory, in the order in which they are summed.
class RoundTable {
public:
  /// 64-bit words per round.
  static constexpr int64_t Words = 9;
  /// `memory` has room for all rounds; `columns` is the number of columns of each product.
  RoundTable(mlir::Value context, mlir::Value memory, mlir::Value columns)
      : context_(context), memory_(memory), columns_(columns) {}

  void store(const Emit &e, mlir::Value position, const ProductRound &round) const;
  /// Emits a call that sums the first `count` rounds, whose operands have the types `a` and `b`; C
  /// has m rows and n columns. `c` and `accumulate` are as in `emitProduct`. The call overwrites
  /// the stored rounds.
  void emitSum(const Emit &e, mlir::Type a, mlir::Type b, const MatrixView &c, mlir::Value m,
               mlir::Value count, bool accumulate) const;

private:
  mlir::Value context_, memory_, columns_;
};

} // namespace ptl::cpu
