// `task name { … }` in programs.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// Of the operations of a `task` block of a program, and of the grids and launches that are made of
/// them: an array of its name and a number.
inline constexpr llvm::StringLiteral kTaskAttribute = "ptl.task";

/// The name of the `task` block that an operation belongs to; empty if there is none.
inline llvm::StringRef taskOf(mlir::Operation *op) {
  auto mark = op->getAttrOfType<mlir::ArrayAttr>(kTaskAttribute);
  return mark ? mlir::cast<mlir::StringAttr>(mark[0]).getValue() : llvm::StringRef();
}

} // namespace ptl::ir
