// Runs the program after every pass, to find the first pass that changed its meaning.
#pragma once

#include "compile/chip/stage_record.h"
#include "runtime/library.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// The arguments of an entry: the contents of array parameters and outputs before the call.
struct StageCall {
  std::vector<const PtlArray *> arrays;
  std::vector<PtlScalar> scalars;
  std::vector<int64_t> lengths; ///< leading axes, then dimensions
};

/// A stage whose results differ from those of the first stage.
struct StageDifference {
  std::string pass; ///< the pass that made the stage
  std::string text; ///< `y: element [3] is 256, not 16`
  mlir::ModuleOp module;
};

/// Runs the stages on copies of the arguments. Stages that no executor supports (kernels written by
/// hand at tile level) are skipped. `machine` is that of the block level.
std::optional<StageDifference> findChange(const StageRecord &record, const Machine *machine,
                                          const StageCall &call);

} // namespace ptl
