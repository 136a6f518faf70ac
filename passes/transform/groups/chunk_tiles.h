// Folds along the chunks of an axis.
#pragma once

#include "passes/transform/groups/chunk_emit.h"

namespace ptl::ir {

/// Reduces a tile along its rows or columns.
mlir::Value foldAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                      llvm::StringRef combiner, TileAxis::Role role);

/// A tile with its rows as columns.
mlir::Value transposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);

} // namespace ptl::ir
