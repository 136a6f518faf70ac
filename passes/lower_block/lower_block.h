// Lowers the tile level to the block level: each grid of a function becomes a kernel of one or two
// functions (cube, vector) in the `pto` dialect, with buffers that have no addresses yet and
// without synchronisation.
#pragma once

#include "frontend/base/diagnostic.h"
#include "machines/machine.h"
#include "passes/analysis/buffer_ledger.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptl::ir {
class Simplifier;
} // namespace ptl::ir

namespace ptl::block {

/// The options of a kernel's lowering. The defaults overlap most and need most memory.
struct LowerOptions {
  int64_t queueSlots = 2; ///< the number of tiles that the consumer of a queue holds
  /// The number of slots of buffers that a point of the grid loads or stores; several let
  /// neighbouring points overlap.
  int64_t gridBuffers = 2;
  bool unrolls = true; ///< loops with `unroll` are unrolled
  /// The number of iterations by which the first stage of a loop runs ahead of the second.
  int64_t ahead = 2;
  /// The number of operands, the largest first, that products in loops load piece by piece.
  int64_t streamed = 0;
  /// The number of parts into which tiles that pass between cores are cut; a loop executes the
  /// parts.
  int64_t parts = 1;
  /// The number of slices in which the vector cores read tiles from queues and write them there;
  /// products and the slots of queues stay whole.
  int64_t slices = 1;
  int64_t pointParts = 1;  ///< the number of parts in which a point of the grid is computed
  int64_t partBuffers = 2; ///< slots of such a part's loads, so that neighbouring parts overlap
  /// The bytes of the parts in which stores and reductions are computed; 0: not in parts.
  int64_t statementBytes = 0;
  bool operator==(const LowerOptions &) const = default;
};

/// The place where the host launches a kernel.
struct LaunchSite {
  mlir::Operation *launch = nullptr;
  std::vector<mlir::Operation *> brought; ///< host operations that only this kernel uses
};

/// The result of the lowering: the module as host code, with a `ptl.launch` for each grid and
/// everything outside grids, and one module per kernel, in the order of the launches.
struct BlockProgram {
  mlir::OwningOpRef<mlir::ModuleOp> host;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> kernels;
  /// The grids that the kernels were made from; the accesses of launches are computed from them.
  /// There is a function for each, with its name, whose arguments are the operands of its launch.
  mlir::OwningOpRef<mlir::ModuleOp> grids;
  /// For each kernel, how its tiles are cut into parts; nothing if they are whole.
  std::vector<std::optional<LedgerParts>> parts;
  std::vector<bool> unrolls;         ///< by kernel: some loop has `unroll`
  std::vector<LowerOptions> options; ///< by kernel: how it was lowered
  /// For each kernel, the group of tensor operations whose tiles it computes, from 1; 0 if there is
  /// none.
  std::vector<size_t> tileGroups;
  /// For each kernel, the addresses of its buffers, once they have been assigned.
  std::vector<std::optional<BufferLedger>> ledgers;
  /// The kernel whose tiles cannot be cut as its options require; then there are no kernels.
  std::optional<size_t> uncut;
  /// For each kernel, its launch, so that some kernels can be lowered again without the others;
  /// empty if that is impossible.
  std::vector<LaunchSite> sites;
  mlir::IRMapping fromModule; ///< from the module at tile level to `host`
};

/// Reports that something cannot be lowered: a diagnostic, its location, and its arguments.
using Report = std::function<void(DiagId, mlir::Location, std::vector<std::string>)>;

/// Called after a pass on tiles with its name and its result.
using AfterPass = std::function<void(llvm::StringRef pass, mlir::ModuleOp)>;

/// Lowers a module at tile level that holds one function. Returns nothing after an error, which is
/// reported. `module` is not changed; its context must have the `pto` dialect loaded. `options` are
/// those of each kernel; missing ones are the defaults. `before` is the result for the same module
/// with other options, if there is one; kernels with unchanged options are taken from it. If it has
/// `sites`, which belong to this very module, only the other kernels are lowered and nothing else
/// is visited. `afterPass` is called with the results of the passes before instruction selection,
/// for all kernels.
std::optional<BlockProgram> lowerToBlocks(mlir::ModuleOp module, const Machine &machine,
                                          llvm::ArrayRef<LowerOptions> options,
                                          const ir::Simplifier &simplifier, const Report &report,
                                          BlockProgram *before = nullptr,
                                          const AfterPass &afterPass = {});

} // namespace ptl::block
