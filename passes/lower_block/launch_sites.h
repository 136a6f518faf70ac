// Where the host launches kernels, and what it does for each of them alone: so a kernel can be made
// again without the others.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace ptl::block {

/// The host's own operations, before the passes on grids add to them.
class HostOperations {
public:
  explicit HostOperations(mlir::func::FuncOp host);

  /// Once its grids are outlined: the launches in their order. Empty if a kernel depends on more of
  /// the host than its grid and what it brought to it.
  std::vector<LaunchSite> sites(mlir::func::FuncOp host) const;

private:
  llvm::DenseSet<mlir::Operation *> own_;
  bool gridsAllocate_ = false;
};

} // namespace ptl::block
