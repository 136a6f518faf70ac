// Executes a placed program on the parts of its levels, all in one process or each as a rank by itself:
// every part computes on its blocks as the reference executor does, and movements go by their lists of
// steps.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/reference/interpreter.h"
#include "frontend/sema/placement/placement.h"
#include "runtime/movement/run_rank.h"

namespace ptl::parts {

/// One part, and how it reaches the others.
struct OwnPart {
  uint32_t part = 0;
  movement::Port &port; ///< to parts by their number
};

struct PartsOptions {
  MachineShape shape;
  uint64_t seed = 0;                ///< of the order in which messages arrive
  reference::RunOptions entry = {}; ///< dimensions by name
  OwnPart *own = nullptr;           ///< null: all parts are here
};

/// `args`: whole arrays and scalars, one per parameter. The outputs are whole arrays again, put
/// together of the blocks; what several parts have is compared between them. What stops one
/// part stops all, with the name of the part. Of parts that are ranks the first has the outputs, the
/// others have empty values.
reference::RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                                const PlacedProgram &placed, std::vector<reference::Value> args,
                                const PartsOptions &options);

} // namespace ptl::parts
