// Loops of programs on parts: each variable that a loop carries has one placement, at the beginning
// and at the end of every iteration.
#pragma once

#include "frontend/sema/placement/placement.h"
#include "frontend/sema/placement/placement_report.h"

#include <algorithm>
#include <functional>
#include <map>

namespace ptl {

/// The callbacks of the walk over a program for a loop.
struct LoopWalk {
  PlacedProgram &placed;
  std::map<const Local *, ValueId> &locals; ///< what each name holds
  const Block *block;
  std::function<void(PlacedLoop &)> body; ///< walks over condition and body once
  std::function<ValueId(ValueId, const Placement &)> slice;
  /// The latest value of a variable, for a report.
  std::function<ReportedValue(const Local *, ValueId)> reported;
  PlacementReports &reports;
  /// a flag that is set at the end of an iteration if it was the last
  const Local *leaves = nullptr;
  std::vector<const Local *> flags = {}; ///< what else it carries beside what it assigns
  /// For a loop over stages: the level over which some of the carried values pass from stage to stage. Stages assign elements of the
  /// others.
  struct Stages {
    size_t level = 0;
    LevelPlacement at, next;
    std::vector<const Local *> passed;
    bool passes(size_t over, const Local *local) const {
      return over == level && std::ranges::find(passed, local) != passed.end();
    }
  };
  std::optional<Stages> stages = std::nullopt;
};

/// Appends the variables that a block or a statement assigns, in order, including nested blocks.
void addAssigned(const Block *block, std::vector<const Local *> &assigned);
void addAssigned(const Stmt &stmt, std::vector<const Local *> &assigned);

/// Whether what follows a mark checks or prints something, and so does more than to make values.
bool actsAfter(const PlacedProgram &placed, const PlacedMark &mark);

/// For one level of a variable that may have either of two placements: the placement that serves
/// for both, since parts can take their blocks of a value that is whole everywhere. Nothing if
/// elements would have to move.
std::optional<LevelPlacement> agreed(const Placement &first, const Placement &next, size_t level);

/// The rounds of a `for` by dimensions: `variable` is `lo`, `lo + step` and so on, below `hi`.
struct LoopRounds {
  SymbolId variable;
  Dim lo, hi, step;
  const RangeInfo *tile =
      nullptr; ///< of a loop over tiles: its variable's range, which begins at `variable`
};

/// The rounds of a loop over a range or over tiles whose bounds are dimensions; nothing for others.
std::optional<LoopRounds> roundsOf(DimContext &dims, const ForStmt &stmt);

/// Why a loop cannot run on parts; empty if it can.
std::string whyNoLoop(DimContext &dims, const ForStmt &stmt);

/// Places a loop whose bounds are set. A carried variable begins with its placement before the
/// loop; if that is the same everywhere and every iteration cuts it, it begins cut. False after a
/// report.
bool placeLoop(PlacedLoop loop, const LoopWalk &walk);

} // namespace ptl
