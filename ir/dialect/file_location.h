// The file location inside an MLIR location, wherever it is nested.
#pragma once

#include "mlir/IR/Location.h"

namespace ptl {

/// The first file and line in the location; null if it has none.
inline mlir::FileLineColLoc fileOf(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location part) {
    found = mlir::dyn_cast<mlir::FileLineColLoc>(part);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

} // namespace ptl
