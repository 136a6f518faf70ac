// Tile level as PTL source: an entry with every tile, load, store and loop written out.
// Tensor-level code comes out as kernels and a program that calls them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptl::source {

/// What a function of the IR no longer says of its declaration.
struct EntryFacts {
  std::string name;
  std::string doc; ///< lines without `///`
  bool isPub = false;
  std::vector<std::string> wheres; ///< those that are no filter of tunables
  std::map<std::string, int64_t> statics;
  std::map<std::string, std::string> strides; ///< by parameter: `[S, 1]`
  std::string target;                         ///< `cpu`, or a chip
  /// The kernel in whose source text a location lies; empty if there is none, or it is the entry.
  std::function<std::string(mlir::Location)> kernelAt;
  /// The comment of that kernel, as `doc`.
  std::function<std::string(mlir::Location)> kernelDocAt;
  /// Where a tile of a kernel lies; empty: in several places, or nothing says where. Null: on the
  /// CPU, which has no places.
  std::function<std::string(mlir::Value)> placeOf;
};

struct SourceResult {
  /// Not formatted, and with origins (origins.h); empty if something cannot be written.
  std::string text;
  std::string problem;
  mlir::Location at;
};

/// Prints one function at tile level.
SourceResult printTiles(mlir::func::FuncOp function, const EntryFacts &facts);

/// Prints the host code of a chip, and the kernels of the block level that it launches, with
/// buffers, events and instructions. `kernels` are modules as `block::BlockProgram` has them.
SourceResult printBlocks(mlir::func::FuncOp host, llvm::ArrayRef<mlir::ModuleOp> kernels,
                         const EntryFacts &facts);

/// `/// ` before each line of a comment.
std::string docLines(const std::string &doc);

} // namespace ptl::source
