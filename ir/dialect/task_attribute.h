// `task name { … }` in programs.
#pragma once

#include "ir/dialect/attributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The name of the `task` block that an operation belongs to; empty if there is none.
inline llvm::StringRef taskOf(mlir::Operation *op) {
  auto mark = attrs::task.of(op);
  return mark ? mlir::cast<mlir::StringAttr>(mark[0]).getValue() : llvm::StringRef();
}

} // namespace ptl::ir
