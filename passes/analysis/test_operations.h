// For tests on small functions: operations are found by the name in their attribute `n`.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

namespace ptl::ir {

/// The operation of a module that has the name; null, which fails the test, if there is none.
inline mlir::Operation *operationNamed(mlir::ModuleOp module, llvm::StringRef name) {
  mlir::Operation *found = nullptr;
  module.walk([&](mlir::Operation *op) {
    if (auto own = op->getAttrOfType<mlir::StringAttr>("n"); own && own == name)
      found = op;
  });
  EXPECT_TRUE(found) << name.str();
  return found;
}

} // namespace ptl::ir
