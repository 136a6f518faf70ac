// Which kind of core computes what in a grid.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace ptl::block {

enum class CoreKind { Cube, Vector };

/// The split of a grid. Products run on the cube core, with the accumulation of products, the
/// conversion of a finished accumulator and its store; everything else on the vector cores. Loads,
/// constants, scalars and control flow belong to whoever uses them.
struct CoreAssignment {
  llvm::DenseSet<mlir::Operation *> cube;          ///< operations on tiles that the cube core does
  llvm::DenseSet<mlir::Value> accumulators;        ///< values that live in the accumulator
  llvm::SmallVector<mlir::Value> toVector, toCube; ///< values that cross, in program order
  /// The name of the length whose axis is dealt to the two vector cores; null: one of them does
  /// all.
  mlir::StringAttr dealt;

  bool usesCube() const { return !cube.empty(); }
  bool usesVector = false;
  int64_t numProducts = 0;
  bool isMixed() const { return usesCube() && usesVector; }
  CoreKind coreOf(mlir::Operation *op) const {
    return cube.contains(op) ? CoreKind::Cube : CoreKind::Vector;
  }
  bool isAccumulator(mlir::Value value) const { return accumulators.contains(value); }
};

CoreAssignment assignCores(ir::ParallelOp grid);

/// What a product reads: looks through transposes, casts and new axes to the value that is loaded
/// or computed.
mlir::Value productSource(mlir::Value operand);

} // namespace ptl::block
