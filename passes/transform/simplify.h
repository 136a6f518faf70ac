// Canonicalises code of any level.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

#include <memory>

namespace ptl::ir {

/// Canonicalisation and common subexpression elimination. Collecting the patterns of all operations
/// takes longer than simplifying a kernel with them, so they are collected once, from the dialects
/// that the context has loaded by then.
class Simplifier {
public:
  explicit Simplifier(mlir::MLIRContext &context);

  /// Runs in place.
  void run(mlir::Operation *op) const;
  /// The same as a pass, `ptl-simplify`.
  std::unique_ptr<mlir::Pass> pass() const;

private:
  mlir::FrozenRewritePatternSet patterns_; ///< shared by copies
};

} // namespace ptl::ir
