// What goes along the stages of a section for many parts.
#pragma once

#include "frontend/sema/block/section_network.h"

namespace ptl {

/// A value that each stage pops from one of an array of pipes and then pushes to the next one.
struct StageChain {
  BlockExpr *pop = nullptr, *push = nullptr;
  Dim first;              ///< the number of the pipe that stage 0 pops from
  Local *value = nullptr; ///< the variable that holds it, when the stages are in one loop
};

/// The chains of statements that each stage goes through. Nothing, after a report, where a stage pops or pushes otherwise, or
/// keeps something for the next round.
std::optional<std::vector<StageChain>> chainsOf(Context &ctx, const Statements &unit,
                                                const OnStmt &section);

} // namespace ptl
