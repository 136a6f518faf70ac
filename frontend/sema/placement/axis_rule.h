// The axes of the operands from which each axis of a result comes, derived from the record of the
// operation.
#pragma once

#include "frontend/sema/placement/placement.h"

#include <span>

namespace ptl {

/// An operand: its whole shape and its placement over one level. A scalar has no axes.
struct PlacedOperand {
  std::span<const Dim> shape;
  LevelPlacement placement;
  bool isZero = false; ///< all its elements are 0, so it is a summand on any number of parts
};

/// One label per axis. Axes with equal labels correspond; an axis without a label repeats, or is of
/// no importance.
using AxisLabels = std::vector<std::optional<int64_t>>;

struct AxisRule {
  std::vector<AxisLabels> operands;
  AxisLabels result;
  std::vector<int64_t> whole; ///< labels of axes that may not be cut
};

/// The labels of the axes of an array, which are counted from the end: -1 is the last one.
AxisLabels countedFromEnd(size_t rank);

/// `shape` is the whole shape of the result. Nothing if only whole operands are possible.
std::optional<AxisRule> axisRule(const OpExpr &expr, std::span<const PlacedOperand> operands,
                                 std::span<const Dim> shape);

/// The argument of `expr` that is a word, `combine: .add`; empty for the default.
std::string_view wordArgument(const OpExpr &expr);

} // namespace ptl
