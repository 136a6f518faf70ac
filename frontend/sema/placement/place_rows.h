// The placement of rows that `dispatch` sends to their experts, and that `combine` brings back.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "frontend/sema/placement/placement_report.h"

#include <optional>
#include <span>

namespace ptl {

struct RowsPlaced {
  std::vector<size_t> over; ///< the levels over which it moves, outermost first
  Placement result;
  Placement
      choices; ///< of the experts that rows name, and of their weights: their blocks are taken for nothing
};

/// `values`: what moves, the experts that its rows choose and, for `combine`, their weights.
/// Nothing after reporting why they cannot move.
std::optional<RowsPlaced> placeRows(const Tree &tree, const PlacedProgram &program,
                                    const ConvertExpr &expr, const MovementRecord &movement,
                                    std::span<const ReportedValue> values,
                                    PlacementReports &reports, DiagnosticSink &sink);

} // namespace ptl
