// The sequence of passes to tile level, which the compiler, the dump options and the tests share.
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
  /// The tile of a matrix product in elements. Both row counts of register blocks, 14 and 6, divide
  /// 168, and 16 and 32 columns divide 256.
  int64_t productM = 168, productN = 256;
  int64_t tileBytes = 65536; ///< bytes of a tile of other operations
  /// How often tiles of tensor-level code in chunks are halved, by the number of their group.
  std::vector<int64_t> halvings;
  bool inChunks = false; ///< tiles of two axes with static bounds, for chips
  /// The chip whose costs and cores determine tiles in chunks of products.
  std::optional<Machine> chunkFor;
  std::optional<Machine> legalizeFor; ///< lower to the instructions of this machine
  bool verifyEach = false;
  bool timePasses = false;
  /// Called after each phase with its name (`tensor`, `tile`).
  std::function<void(const std::string &phase, mlir::ModuleOp)> onPhase;
  /// Called before each pass with its name on the command line.
  std::function<void(llvm::StringRef pass)> onPass;
  /// Called after each pass with its result.
  std::function<void(llvm::StringRef pass, mlir::ModuleOp)> afterPass;
};

/// Lowers tensor level to tile level, in place. Fails only on invalid IR; MLIR's diagnostic handler
/// has received the reason.
llvm::LogicalResult runTilePipeline(mlir::ModuleOp module, const Simplifier &simplifier,
                                    const PipelineOptions &options);

} // namespace ptl::ir
