// Which block is debugged, and with which dimensions: those asked for, else the smallest that fails.
#pragma once

#include "codegen/reference/test_runner.h"

namespace ptl::debug {

struct Scenario {
  const CallableDecl *block = nullptr; ///< a test or property
  reference::DimValues dims;
  std::string note;    ///< why these dimensions, for people
  std::string problem; ///< why there is nothing to debug; empty if there is
};

/// `name`: of the block; empty: the first one that fails, else the first. `dims`: those to take; the
/// others are the smallest that fail, or small ones where none does.
Scenario chooseScenario(const CheckedProgram &program, const SourceManager &sources,
                        const std::string &name, const std::map<std::string, int64_t> &dims,
                        unsigned samples, uint64_t seed);

/// `N = 78, C = 2`
std::string dimsText(const reference::DimValues &dims);

} // namespace ptl::debug
