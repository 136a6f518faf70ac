// Where a value lies after a movement.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "frontend/sema/placement/placement_report.h"

#include <optional>

namespace ptl {

/// Where `value` lies after the movement that `expr` is, and over which level it moved. Reports why
/// it cannot move so; nothing then.
struct MovedTo {
  Placement placement;
  size_t level = 0;
};
std::optional<MovedTo> placeMovement(DimContext &dims, const Tree &tree,
                                     const PlacedProgram &program, const ConvertExpr &expr,
                                     const MovementRecord &movement, const ReportedValue &value,
                                     PlacementReports &reports, DiagnosticSink &sink);

/// The level inside `level` that cuts an axis, counted from the end; nothing if none does. Blocks of
/// blocks do not change where they begin, so only the innermost cut of an axis can be made or mended.
std::optional<size_t> cutInside(const Placement &placement, size_t level, int64_t axis);

} // namespace ptl
