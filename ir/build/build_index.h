// Builds index expressions: items become the box of `ptl.load`, `ptl.slice`, `ptl.store`,
// `ptl.insert`, preceded by checks where the checker could not prove the bounds.
#pragma once

#include "ir/build/build_context.h"

namespace ptl::ir {

/// A box of a base array: see `ptl.load`.
struct Box {
  llvm::SmallVector<mlir::Value> offsets, lengths, steps;
  llvm::SmallVector<int64_t> dropped, newAxes;
  mlir::Value scatter; ///< 1-D index array of an assignment
  int64_t scatterAxis = -1;
  struct Gather {
    mlir::Value index;
    int64_t axis; ///< of the base
  };
  llvm::SmallVector<Gather> gathers;
  bool strided = false;
  /// What cuts the last axis of the base; null: the whole axis.
  const IndexItem *last = nullptr;
};

/// The value of an index expression: a box, then positions taken by arrays, then new axes.
Bound buildIndex(BuildContext &c, const IndexExpr &expr);
/// Builds the box of an index expression. `isTarget`: the expression is assigned to, so an index
/// array scatters.
Box buildBox(BuildContext &c, const IndexExpr &expr, const Bound &base, bool isTarget);
Box wholeBox(BuildContext &c, mlir::Value base);
/// The number of an axis of the base among those that a box keeps.
int64_t axisAfterDropping(const Box &box, int64_t axis);
/// The elements of a box of an array or of storage, without its gathers and new axes.
mlir::Value takeBox(BuildContext &c, mlir::Type type, mlir::Value base, const Box &box,
                    mlir::Value outside, mlir::Location loc);
/// Checks at run time that all elements of an array of integers are positions of an axis of that
/// extent: one reduction.
void checkPositions(BuildContext &c, mlir::Value positions, mlir::Value extent, const Expr &written,
                    const std::string &ofAxis);
/// Whether a position is the constant `expected`.
bool constantIs(mlir::Value value, int64_t expected);

} // namespace ptl::ir
