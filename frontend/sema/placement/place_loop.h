// Loops of programs on parts: what they carry lies alike at the end of each iteration.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "frontend/sema/placement/placement_report.h"

#include <functional>
#include <map>

namespace ptl {

/// What the walk over a program does for a loop.
struct LoopWalk {
  PlacedProgram &placed;
  std::map<const Local *, ValueId> &locals; ///< what each name holds
  std::function<void()> body;               ///< walks over the body once
  std::function<ValueId(ValueId, const Placement &)> slice;
  /// A value that a variable was given last, for a report.
  std::function<ReportedValue(const Local *, ValueId)> reported;
  PlacementReports &reports;
};

/// Why a loop cannot run on parts; empty if it can.
std::string whyNoLoop(const ForStmt &stmt);

/// Places a loop whose bounds are set. What it carries begins as it lies before the loop, cut where every
/// iteration cuts what is the same everywhere. False after a report.
bool placeLoop(PlacedLoop loop, const LoopWalk &walk);

} // namespace ptl
