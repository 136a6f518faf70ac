// Chooses the block to debug and its dimensions: the requested ones, otherwise the smallest that
// fail.
#pragma once

#include "codegen/reference/test_runner.h"

namespace ptl::debug {

struct Scenario {
  const CallableDecl *block = nullptr; ///< a test or property
  reference::DimValues dims;
  std::string note;    ///< why these dimensions were chosen, for people
  std::string problem; ///< why there is nothing to debug; empty if there is something
};

/// `name` is the block's name; if it is empty, the first block that fails is chosen, otherwise the
/// first. `dims` are the requested dimensions; the others are the smallest that fail, or small ones
/// if none does.
Scenario chooseScenario(const CheckedProgram &program, const SourceManager &sources,
                        const std::string &name, const std::map<std::string, int64_t> &dims,
                        unsigned samples, uint64_t seed);

/// `N = 78, C = 2`
std::string dimsText(const reference::DimValues &dims);

} // namespace ptl::debug
