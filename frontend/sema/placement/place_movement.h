// The placement of a value after a movement.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "frontend/sema/placement/placement_report.h"

#include <optional>

namespace ptl {

/// The placement of `value` after the movement that `expr` stands for, and the level over which it
/// moved. Nothing after reporting why it cannot move that way.
struct MovedTo {
  Placement placement;
  size_t level = 0;
  std::vector<size_t> over = {}; ///< all levels of a shift, outermost first
};
std::optional<MovedTo> placeMovement(DimContext &dims, const Tree &tree,
                                     const PlacedProgram &program, const ConvertExpr &expr,
                                     const MovementRecord &movement, const ReportedValue &value,
                                     PlacementReports &reports, DiagnosticSink &sink);

/// The level inside `level` that cuts an axis, counted from the end; nothing if there is none.
/// Cutting a block again does not change where the block begins, so only the innermost cut of an
/// axis can be added or removed.
std::optional<size_t> cutInside(const Placement &placement, size_t level, int64_t axis);

} // namespace ptl
