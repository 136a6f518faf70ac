// From tensor level to tile level.
#pragma once

#include "compile/build_entry.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// Code at tile level; never null.
struct TileModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Called after each phase with its name (`tensor`, `tile`) and the code at that point.
using OnPhase = std::function<void(const std::string &phase, mlir::ModuleOp module)>;

struct TileOptions {
  /// Lower further, to operations that the machine has instructions for; otherwise the code is like
  /// one a person would write.
  bool legalizes = true;
  std::vector<int64_t> halvings; ///< of tiles of tensor-level code (`ir::PipelineOptions`)
  OnPhase onPhase;               ///< may be null
  /// Called with the result of each pass; may be null.
  std::function<void(llvm::StringRef pass, mlir::ModuleOp made)> afterPass;
};

/// Runs the passes up to tile level. Nothing after an error.
std::optional<TileModule> tileModule(const CompileContext &context, TensorModule tensor,
                                     const TileOptions &how = {});

} // namespace ptl
