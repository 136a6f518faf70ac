// Prints the tile level as PTL source: an entry with every tile, load, store and loop explicit.
// Tensor-level code becomes kernels and a program that calls them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptl::source {

/// A constant that the checker has folded.
struct ConstantValue {
  double real = 0;
  int64_t whole = 0;
  bool isReal = false; ///< whether `real` is its value, else `whole`
};

/// Facts about a declaration that the IR of its function does not hold.
struct EntryFacts {
  std::string name;
  std::string doc; ///< lines without the prefix `///`
  bool isPub = false;
  /// Those that do not merely filter tunables, with numbers in the place of constants of files.
  std::vector<std::string> wheres;
  std::vector<std::string> wheresAsWritten; ///< parallel to `wheres`
  std::map<std::string, int64_t> statics;
  std::map<std::string, std::string> strides;    ///< by parameter: `[S, 1]`
  std::map<std::string, ConstantValue> defaults; ///< by parameter
  std::string target;                            ///< `cpu`, or a chip
  /// The kernel in whose source text a location lies; empty if there is none, or if it is the
  /// entry.
  std::function<std::string(mlir::Location)> kernelAt;
  /// The comment of that kernel, as `doc`.
  std::function<std::string(mlir::Location)> kernelDocAt;
  /// The memory in which a tile of a kernel lies; empty if it lies in several memories or that is
  /// unknown. Null on the CPU, which has only one.
  std::function<std::string(mlir::Value)> placeOf;
};

struct SourceResult {
  /// Unformatted, and with origins (origins.h); empty if some operation cannot be expressed.
  std::string text;
  std::string problem;
  mlir::Location at;
};

/// Prints one function at tile level.
SourceResult printTiles(mlir::func::FuncOp function, const EntryFacts &facts);

/// Prints the host code of a chip, and the kernels of the block level that it launches, with
/// buffers, events and instructions. `kernels` are modules as in `block::BlockProgram`.
SourceResult printBlocks(mlir::func::FuncOp host, llvm::ArrayRef<mlir::ModuleOp> kernels,
                         const EntryFacts &facts);

/// The comment with `/// ` in front of each line.
std::string docLines(const std::string &doc);

} // namespace ptl::source
