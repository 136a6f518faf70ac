// Sums of products: C[m, n] = or += the sum over rounds r of A_r * B_r, as loops of the source add
// them up. All rounds together are computed as one contraction: sums stay in registers over as many
// rounds as fit the packed panels.
#pragma once

#include "codegen/cpu/microkernel.h"

namespace ptl::cpu {

/// How rows of A or columns of B lie in lines that are apart, as the pixels of an image are where a filter has moved: number j is number
/// `j % inner` of line `j / inner`, and lines are `outer` elements apart. Null where they are even: number j is j strides from the first.
struct ProductLines {
  mlir::Value inner, outer;
};

/// One product of a sum.
struct ProductRound {
  MatrixView a, b;
  mlir::Value k;                        ///< numbers along the contracted axis
  ProductLines rows = {}, columns = {}; ///< of A, of B
};

/// A table of rounds in memory, in the order in which they are summed.
class RoundTable {
public:
  /// Of 64 bits, for one round.
  static constexpr int64_t Words = 11;
  /// `memory` has room for all rounds; `rows` and `columns` are how many each product has.
  RoundTable(mlir::Value context, mlir::Value memory, mlir::Value rows, mlir::Value columns)
      : context_(context), memory_(memory), rows_(rows), columns_(columns) {}

  void store(const Emit &e, mlir::Value position, const ProductRound &round) const;
  /// Emits a call of the blocked sum of the first `count` rounds, all of which have operands of types `a` and `b`. `c` is as in `emitProduct`, and so is `accumulate`. What is stored of the rounds is gone behind it.
  void emitSum(const Emit &e, mlir::Type a, mlir::Type b, const MatrixView &c, mlir::Value count,
               bool accumulate) const;

private:
  mlir::Value context_, memory_, rows_, columns_;
};

} // namespace ptl::cpu
