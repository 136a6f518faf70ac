// What is computed element by element from arrays that are put together, part by part.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/affine_positions.h"

namespace ptl::ir {

/// A range of an axis of what is computed.
struct Stretch {
  size_t number;
  Linear begin, length;
  Extent extent; ///< of what is computed there
};

/// What a root is computed from, seen along one of its axes.
class Cut {
public:
  Cut(mlir::OpBuilder &b, mlir::Value root, int64_t axis)
      : b_(b), loc_(root.getLoc()), root_(root), axis_(axis) {}

  /// Whether parts meet along the axis, and all that is read there can be read part by part.
  bool find();
  size_t count() const { return meetings_.size(); }
  /// What has to be at least 0, for the regions to be these.
  llvm::ArrayRef<Linear> needed() const { return needed_; }
  /// The regions, with lengths that are named in `inside`.
  llvm::SmallVector<Stretch> regions(mlir::Operation *inside) const;
  /// The root's elements of a region.
  mlir::Value part(const Stretch &region) { return build(root_, axis_, Linear{}, region); }

private:
  void note(mlir::Value value, int64_t axis, const Linear &from);
  void noteParts(ConcatOp concat, int64_t axis, const Linear &from);
  void notePositions(TakeOp take, int64_t axis, const Linear &from);
  void notePad(PadOp pad, int64_t axis, const Linear &from);
  void meet(const Linear &place);
  bool order();
  size_t numberOf(const Linear &place) const;

  mlir::Value build(mlir::Value value, int64_t axis, const Linear &from, const Stretch &region);
  mlir::Value buildPart(ConcatOp concat, int64_t axis, const Linear &from, const Stretch &region);
  mlir::Value buildTaken(TakeOp take, int64_t axis, const Linear &from, const Stretch &region);
  mlir::Value buildPad(PadOp pad, int64_t axis, const Linear &from, const Stretch &region);
  mlir::Value buildSlice(SliceOp slice, int64_t axis, const Linear &from, const Stretch &region);
  mlir::Value buildElements(mlir::Operation *op, int64_t axis, const Linear &from,
                            const Stretch &region);
  mlir::Value buildFill(mlir::Operation *op, int64_t axis, const Linear &from,
                        const Stretch &region);
  mlir::Value sliced(mlir::Value value, int64_t axis, const Linear &begin, const Stretch &region,
                     int64_t step = 1);
  mlir::Value reversed(TakeOp take, const PositionRun &run, const Linear &begin,
                       const Stretch &region);
  ArrayType typeIn(mlir::Value value, int64_t axis, const Stretch &region) const;
  llvm::SmallVector<mlir::Value> namedLengths(mlir::Value value, int64_t axis,
                                              const Stretch &region);
  const AffinePositions *positionsOf(TakeOp take);
  Linear lengthAlong(mlir::Value value, int64_t axis);

  mlir::OpBuilder &b_;
  mlir::Location loc_;
  mlir::Value root_;
  int64_t axis_;
  bool isPossible_ = true;
  Linear whole_; ///< how long the axis is
  llvm::SmallVector<Linear>
      meetings_; ///< where parts meet; in order, from 0 on, once they are ordered
  llvm::SmallVector<Linear> needed_;
  llvm::DenseMap<mlir::Operation *, std::optional<AffinePositions>> positions_;
  llvm::DenseMap<mlir::StringAttr, Linear> lengths_;
};

/// Whether an operation computes elements for one other such operation alone, so that it may be computed with that one, part by part.
bool isForOne(mlir::Operation *op);
/// Whether a value is computed with `root`, part by part.
bool isFollowed(mlir::Value value, mlir::Value root);

} // namespace ptl::ir
