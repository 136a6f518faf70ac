// Finds where the host launches kernels, and which host operations belong to one kernel only, so
// that a kernel can be lowered again without the others.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace ptl::block {

/// The operations of the host, recorded before passes on grids add others for single kernels.
class HostOperations {
public:
  explicit HostOperations(mlir::func::FuncOp host);

  /// The launches in order, after the grids have been outlined. Empty if a kernel depends on other
  /// parts of the host than its grid and the operations that were added for it.
  std::vector<LaunchSite> sites(mlir::func::FuncOp host) const;

private:
  llvm::DenseSet<mlir::Operation *> own_;
  bool gridsAllocate_ = false;
};

} // namespace ptl::block
