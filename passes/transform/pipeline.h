// The named sequence of passes that the compiler, the dump flags and the tests share.
#pragma once

#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/LogicalResult.h"

#include <functional>
#include <string>
#include <vector>

namespace ptl::ir {

class Simplifier;

struct PipelineOptions {
  /// Tile of a matrix product, elements: whole register blocks of 14 and of 6 rows, and of 16 and 32 columns.
  int64_t productM = 168, productN = 256;
  int64_t tileBytes = 65536; ///< tile of other operations
  /// How often tiles of tensor-level code in chunks are halved, by the number of their group.
  std::vector<int64_t> halvings;
  bool inChunks = false; ///< tiles of two axes with static bounds, as chips want them
  /// The chip whose costs and cores decide about tiles in chunks of products.
  std::optional<Machine> chunkFor;
  std::optional<Machine> legalizeFor; ///< whose instructions are to suffice
  bool verifyEach = false;
  bool timePasses = false;
  /// Called after each phase with its name (`tensor`, `tile`).
  std::function<void(const std::string &phase, mlir::ModuleOp)> onPhase;
  /// Called before each pass with its name on the command line.
  std::function<void(llvm::StringRef pass)> onPass;
  /// Called after each pass, with what it made.
  std::function<void(llvm::StringRef pass, mlir::ModuleOp)> afterPass;
};

/// Tensor level to tile level, in place. Fails only on invalid IR; MLIR's handler has the reason.
llvm::LogicalResult runTilePipeline(mlir::ModuleOp module, const Simplifier &simplifier,
                                    const PipelineOptions &options);

} // namespace ptl::ir
