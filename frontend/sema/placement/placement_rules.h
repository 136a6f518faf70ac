// The rule of placement of an operation, derived from its record: the operands' axes from which
// each axis of the result comes, those that are contracted, and in which operands it is linear.
#pragma once

#include "frontend/sema/placement/axis_rule.h"

namespace ptl {

/// The placement of an operation's result over one level, or why there is none.
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
  /// Per operand that is the same everywhere and of which each part takes its block: the blocks.
  std::vector<std::optional<LevelPlacement>> slices;
};

/// Whether a built-in has a rule, and executors of parts support it.
bool hasPlacementRule(const OpRecord &op);

/// `shape` is the whole shape of the result. Levels are judged independently: a cut by another
/// level happens before or after, regardless of this one.
PlacementVerdict placeOp(DimContext &dims, const OpExpr &expr,
                         std::span<const PlacedOperand> operands, std::span<const Dim> shape,
                         ElemKind elem);

/// The same for an index. Its first `arrays` operands are arrays whose elements are in the result,
/// and the others are positions; `rule` has the axes that the result keeps.
PlacementVerdict placeIndexed(const AxisRule &rule, std::span<const PlacedOperand> operands,
                              size_t arrays = 1);

/// The same for what computes with whole arrays of one part only, such as a kernel.
PlacementVerdict placeWhole(std::span<const PlacedOperand> operands);

/// The blocks of the result of a reshape that hold the same elements as those of its operand, uneven ones included; nothing if elements
/// would have to move. An axis that is joined with axes inside it is cut in units of those, and can be split from them again.
std::optional<LevelPlacement> blocksAfterReshape(DimContext &dims, std::span<const Dim> from,
                                                 const LevelPlacement &cut,
                                                 std::span<const Dim> to);

} // namespace ptl
