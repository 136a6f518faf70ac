// Loops of programs on parts: each variable that a loop carries has one placement, at the beginning and
// at the end of every iteration.
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

/// Places a loop whose bounds are set. A variable that it carries begins with its placement before the loop, or cut if every
/// iteration cuts what is the same everywhere. False after a report.
bool placeLoop(PlacedLoop loop, const LoopWalk &walk);

} // namespace ptl
