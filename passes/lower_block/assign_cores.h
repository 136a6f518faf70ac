// Assigns the operations of a grid to kinds of cores.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace ptl::block {

enum class CoreKind { Cube, Vector };

/// The assignment of a grid's operations to kinds of cores. Products run on the cube core, together
/// with their accumulation, the conversion of a finished accumulator and its store; everything else
/// runs on the vector cores. Loads, constants, scalars and control flow belong to each core that
/// uses them.
struct CoreAssignment {
  llvm::DenseSet<mlir::Operation *> cube;   ///< operations on tiles of the cube core
  llvm::DenseSet<mlir::Operation *> vector; ///< operations on tiles of the vector cores
  llvm::DenseSet<mlir::Value> accumulators; ///< values that are kept in the accumulator
  /// values that pass between the cores, in program order
  llvm::SmallVector<mlir::Value> toVector, toCube;
  /// The names of the lengths whose axis is split between the two vector cores: one, or those of
  /// its parts. If empty, one vector core does everything.
  llvm::SmallVector<mlir::StringAttr, 4> dealt;
  /// The operations before which all cores of the group synchronise, since both kinds access the
  /// same global memory; and the arrays concerned.
  llvm::DenseSet<mlir::Operation *> meetings;
  llvm::SmallVector<mlir::Value> metOver;
  /// The names of lengths that may be 0, because they are parts of a shorter length.
  llvm::SmallVector<mlir::StringAttr, 4> mayBeEmpty;

  /// The arrays that the grid stores to. Reads of these must stay at their place in the program.
  llvm::DenseSet<mlir::Value> written;

  bool usesCube() const { return !cube.empty(); }
  bool usesVector = false;
  int64_t numProducts = 0; ///< parts of one product count once
  bool deals(mlir::StringAttr name) const { return name && llvm::is_contained(dealt, name); }
  bool empties(mlir::StringAttr name) const { return name && llvm::is_contained(mayBeEmpty, name); }
  bool isMixed() const { return usesCube() && usesVector; }
  CoreKind coreOf(mlir::Operation *op) const {
    return cube.contains(op) ? CoreKind::Cube : CoreKind::Vector;
  }
  bool isAccumulator(mlir::Value value) const { return accumulators.contains(value); }
  bool crossesToCube(mlir::Value value) const { return llvm::is_contained(toCube, value); }
};

/// Assigns the cores. `core_marks.h` records the result in the IR.
CoreAssignment assignCores(ir::ParallelOp grid);

/// Whether an array lies in global memory: storage, or a value that was not defined in the grid.
bool isGlobal(mlir::Value array);
/// Whether a box of global memory is only used to take elements by position. If the kernel writes
/// that array, the box is loaded at its place.
bool isTakenFrom(mlir::Value box, const CoreAssignment &cores);
/// Whether a product, or a vector operation, reads a loaded value, also through aliases.
bool isUsedOnCube(mlir::Value value, const CoreAssignment &cores);
bool isUsedOnVector(mlir::Value value, const CoreAssignment &cores);

/// Which part of a split operation a result belongs to.
struct PartOf {
  int64_t group = -1, number = 0;
  bool isPart() const { return group >= 0; }
};
PartOf partOf(mlir::Value value);

/// The origin of a product's operand: looks through transposes, casts and new axes to the value
/// that is loaded or computed.
mlir::Value productSource(mlir::Value operand);
/// Whether the cube core loads an operand of a product itself, because it is a matrix in global
/// memory.
bool isLoadedOperand(mlir::Value operand);

} // namespace ptl::block
