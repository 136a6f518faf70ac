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
  const Block *block;
  std::function<void(PlacedLoop &)> body; ///< walks over condition and body once
  std::function<ValueId(ValueId, const Placement &)> slice;
  /// A value that a variable was given last, for a report.
  std::function<ReportedValue(const Local *, ValueId)> reported;
  PlacementReports &reports;
  const Local *leaves = nullptr; ///< says at the end of a round whether it was the last one
  /// A loop over stages, over whose level all that it carries goes from one to the next.
  struct Stages {
    size_t level = 0;
    LevelPlacement at, next;
  };
  std::optional<Stages> stages = std::nullopt;
};

/// Adds the variables that a block or a statement assigns, in order, those of blocks in it included.
void addAssigned(const Block *block, std::vector<const Local *> &assigned);
void addAssigned(const Stmt &stmt, std::vector<const Local *> &assigned);

/// One level of a variable that may have the one placement or the other: where it lies for both, since blocks are taken of what
/// is whole; nothing if something would have to move.
std::optional<LevelPlacement> agreed(const Placement &first, const Placement &next, size_t level);

/// Why a loop cannot run on parts; empty if it can.
std::string whyNoLoop(const ForStmt &stmt);

/// Places a loop whose bounds are set. A variable that it carries begins with its placement before the loop, or cut if every
/// iteration cuts what is the same everywhere. False after a report.
bool placeLoop(PlacedLoop loop, const LoopWalk &walk);

} // namespace ptl
