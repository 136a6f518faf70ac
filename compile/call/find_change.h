// The program run as it is after every pass: the first pass that changed what the program means is
// found by its name.
#pragma once

#include "compile/chip/stage_record.h"
#include "runtime/library.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// What an entry is called with: array parameters and outputs as they are before the call.
struct StageCall {
  std::vector<const PtlArray *> arrays;
  std::vector<PtlScalar> scalars;
  std::vector<int64_t> lengths; ///< leading axes, then dimensions
};

/// A stage whose results are others than those of the first.
struct StageDifference {
  std::string pass; ///< that made the stage
  std::string text; ///< `y: element [3] is 256, not 16`
  mlir::ModuleOp module;
};

/// Runs the stages, on copies of the arguments. Stages that nothing executes (kernels by hand at
/// tile level) are left out. `machine`: of the block level.
std::optional<StageDifference> findChange(const StageRecord &record, const Machine *machine,
                                          const StageCall &call);

} // namespace ptl
