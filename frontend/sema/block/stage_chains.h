// The values that pass along the stages of a section that runs on many parts.
#pragma once

#include "frontend/sema/block/section_network.h"

namespace ptl {

/// A value that each stage pops from one of an array of pipes and then pushes to the next one.
struct StageChain {
  BlockExpr *pop = nullptr, *push = nullptr;
  Dim first;              ///< the number of the pipe that stage 0 pops from
  Local *value = nullptr; ///< the variable that holds it, when the stages are in one loop
};

/// The chains of statements that each stage executes. Nothing, after a report, if a stage pops or
/// pushes in another pattern, or carries a value to its next iteration.
std::optional<std::vector<StageChain>> chainsOf(Context &ctx, const Statements &unit,
                                                const OnStmt &section);

} // namespace ptl
