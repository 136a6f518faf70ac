// The statements of a section that runs on many parts, as a loop over its stages.
#pragma once

#include "frontend/sema/block/section_network.h"

#include <set>
#include <span>

namespace ptl {

/// A value that each stage pops from one of an array of pipes and then pushes to the one of the next stage.
struct StageChain {
  BlockExpr *pop = nullptr, *push = nullptr;
  Dim offset; ///< stage `s` pops from the pipe `s + offset`
  bool isDown =
      false; ///< it pushes to the pipe before that one, from which the stage before it pops
  Local *value = nullptr; ///< the variable that holds it, when the stages are in one loop
};

/// Statements that all stages execute one stage after the other, and the chains through them.
struct StageUnit {
  Statements stmts;
  std::vector<StageChain> chains;
  bool isDown = false; ///< the last stage is the first one
};

/// The number of the pipe from which the first stage of a chain pops, and of that to which the last one pushes.
Dim entryOf(Context &ctx, const StageChain &chain, const OnStmt &section);
Dim exitOf(Context &ctx, const StageChain &chain, const OnStmt &section);

/// The variables of all that a section of stages assigns: each stage its own elements.
Writes storesOf(const OnStmt &section);
/// Whether a statement can be computed again wherever it is needed: a `let` that nothing changes.
bool isRepeatable(const Stmt &stmt, const Writes &stores);

/// The units that statements of a section may begin with, longest first. None, after a report, if a stage pops or
/// pushes in another pattern, or carries a value to later statements other than in elements of its own.
std::vector<StageUnit> unitsOf(Context &ctx, std::span<Stmt *const> stmts, const OnStmt &section,
                               const Writes &stores);

/// `var c = …` of each chain, whose value is in `first`, and a loop over the stages, which read and assign it. `lets` are what they
/// compute again.
Statements stageLoop(Context &ctx, const OnStmt &section, const Statements &lets, StageUnit &unit,
                     const std::vector<Local *> &first);

} // namespace ptl
