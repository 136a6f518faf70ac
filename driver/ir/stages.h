// The program after every pass on its way to a target, and each of these run: the first pass that
// changed what the program means is found by its name.
#pragma once

#include "driver/ir/chip.h"
#include "runtime/library.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// The program after a pass.
struct Stage {
  enum class Level : uint8_t {
    Tiles,        ///< tensor or tile level: `ir/execute` runs it
    Unplaced,     ///< block level, whose buffers get bytes of their own, as many as they want
    Placed,       ///< block level: the simulator, one instruction after the other
    Synchronised, ///< the same; then pipes run in adversarial orders, too
  };
  std::string pass; ///< that made it
  Level level = Level::Tiles;
  mlir::OwningOpRef<mlir::ModuleOp> tiles;
  ChipProgram blocks; ///< from `Unplaced` on
};

/// All that a stage is as one module: at block level the host with the modules of its kernels.
mlir::OwningOpRef<mlir::ModuleOp> wholeOf(const Stage &stage);

/// The stages of one compilation, in order.
class StageRecord {
public:
  size_t size() const { return stages_.size(); }
  /// Forgets what an attempt that failed has made.
  void truncate(size_t size) { stages_.resize(std::min(size, stages_.size())); }
  void addTiles(std::string pass, mlir::ModuleOp module);
  void addBlocks(std::string pass, Stage::Level level, const ChipProgram &program);
  const std::vector<Stage> &all() const { return stages_; }

private:
  std::vector<Stage> stages_;
};

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
