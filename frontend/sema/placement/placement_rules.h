// The rule of placement of an operation, from its record: which axes of the operands an axis of the
// result comes from, which are contracted, and what is linear.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <span>

namespace ptl {

/// An operand: its whole shape and where it lies over one level. A scalar has no axes.
struct PlacedOperand {
  std::span<const Dim> shape;
  LevelPlacement placement;
};

/// What an operation makes of its operands, over one level.
struct PlacementVerdict {
  enum class Kind : uint8_t {
    Fine,
    PartialValue, ///< `operand` is partial, and the operation is not linear
    Conflict,     ///< `operand` and `other` are cut differently, or on different parts
    NeedsWhole    ///< `operand` must be the same everywhere
  };
  Kind kind = Kind::Fine;
  size_t operand = 0, other = 0;
  LevelPlacement result;
  /// Per operand that is the same everywhere and of which each part takes its block: the axis,
  /// counted from the end.
  std::vector<std::optional<int64_t>> slices;
  int64_t turn = 0; ///< of the blocks of slices
};

/// Whether there is a rule for a built-in, and executors of parts have what it needs besides operands.
bool hasPlacementRule(const OpRecord &op);

/// `shape`: of the result, as a whole. Levels are judged one by one: what is cut by another level is cut
/// before or afterwards, whatever this one does.
PlacementVerdict placeOp(DimContext &dims, const OpExpr &expr,
                         std::span<const PlacedOperand> operands, std::span<const Dim> shape,
                         ElemKind elem);

/// The axis of the result, counted from the end, whose blocks hold the same elements as those of an
/// axis before a reshape; nothing when elements would have to move.
std::optional<int64_t> axisAfterReshape(DimContext &dims, std::span<const Dim> from, int64_t axis,
                                        std::span<const Dim> to);

} // namespace ptl
