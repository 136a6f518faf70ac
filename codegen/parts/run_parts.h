// Executes a placed program on the parts of its level, in one process: every part computes on its
// blocks as the reference executor does, and movements go by their lists of steps.
#pragma once

#include "codegen/reference/interpreter.h"
#include "frontend/sema/placement/placement.h"

namespace ptl::parts {

struct PartsOptions {
  uint32_t parts = 1;
  uint64_t seed = 0;                ///< of the order in which messages arrive
  reference::RunOptions entry = {}; ///< dimensions by name
};

/// `args`: whole arrays and scalars, one per parameter. The outputs are whole arrays again, put
/// together of the blocks; what is the same everywhere is compared between the parts. What stops one
/// part stops all, with the number of the part.
reference::RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                                const PlacedProgram &placed, std::vector<reference::Value> args,
                                const PartsOptions &options);

} // namespace ptl::parts
