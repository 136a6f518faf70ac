// Keeps the program after every pass on its way to a target.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/compiler_options.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ptl {

/// The program as a pass left it.
struct Stage {
  enum class Level : uint8_t {
    Tiles, ///< tensor or tile level: `ir/execute` runs it
    /// block level before addresses are assigned: each buffer has memory of its own, without a
    /// limit
    Unplaced,
    Placed,       ///< block level: the simulator, one instruction after the other
    Synchronised, ///< the same; in addition, pipes run in adversarial orders
  };
  std::string pass; ///< the pass that made the stage
  Level level = Level::Tiles;
  mlir::OwningOpRef<mlir::ModuleOp> tiles;
  ChipProgram blocks; ///< from `Unplaced` on
};

/// The module of a stage; at block level that of the host.
mlir::ModuleOp moduleOf(const Stage &stage);
/// Everything in a stage as one module: at block level the host, with the modules of its kernels.
mlir::OwningOpRef<mlir::ModuleOp> wholeOf(const Stage &stage);

/// The stages of one compilation, in order.
class StageRecord {
public:
  size_t size() const { return stages_.size(); }
  /// Removes the stages of an attempt that failed.
  void truncate(size_t size) { stages_.resize(std::min(size, stages_.size())); }
  void addTiles(std::string pass, mlir::ModuleOp module);
  void addBlocks(std::string pass, Stage::Level level, const ChipProgram &program);
  const std::vector<Stage> &all() const { return stages_; }

private:
  std::vector<Stage> stages_;
};

/// Passes the result of a pass over tiles to `CompilerOptions::afterPass`, which may modify it, and
/// then to the record. Both may be null.
void keepTiles(const CompilerOptions &options, StageRecord *record, llvm::StringRef pass,
               mlir::ModuleOp made);
/// The same for the result of a pass over kernels.
void keepBlocks(const CompilerOptions &options, StageRecord *record, const char *pass,
                Stage::Level level, ChipProgram &program);

} // namespace ptl
