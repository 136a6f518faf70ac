// Canonical form of any level's code.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

#include <memory>

namespace ptl::ir {

/// Canonicalisation and removal of what is computed twice. To look up the patterns of all
/// operations takes longer than to simplify a kernel with them: they are looked up once, from the
/// dialects that the context has loaded by then.
class Simplifier {
public:
  explicit Simplifier(mlir::MLIRContext &context);

  /// In place.
  void run(mlir::Operation *op) const;
  /// The same as a pass, `ptl-simplify`.
  std::unique_ptr<mlir::Pass> pass() const;

private:
  mlir::FrozenRewritePatternSet patterns_; ///< shared by copies
};

} // namespace ptl::ir
