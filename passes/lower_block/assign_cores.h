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
  llvm::DenseSet<mlir::Operation *> vector;        ///< and that the vector cores do
  llvm::DenseSet<mlir::Value> accumulators;        ///< values that live in the accumulator
  llvm::SmallVector<mlir::Value> toVector, toCube; ///< values that cross, in program order
  /// The names of the lengths whose axis is dealt to the two vector cores: one, or those of its
  /// parts; none: one of the cores does all.
  llvm::SmallVector<mlir::StringAttr, 4> dealt;
  /// Operations before which all cores of the group have to have done what stands before, since
  /// both kinds reach the same global memory, and the arrays that this is about.
  llvm::DenseSet<mlir::Operation *> meetings;
  llvm::SmallVector<mlir::Value> metOver;
  /// Names of lengths that may be 0, because what they are parts of is shorter.
  llvm::SmallVector<mlir::StringAttr, 4> mayBeEmpty;

  /// Arrays that the grid stores to: what is read from them is read where the program says so.
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

/// Decides it. `core_marks.h` writes it down.
CoreAssignment assignCores(ir::ParallelOp grid);

/// Whether an array lies in global memory: storage, or a value that was not made in the grid.
bool isGlobal(mlir::Value array);
/// Whether a box of global memory serves only to take parts by position from. Where the kernel
/// writes that array, it is loaded where it stands.
bool isTakenFrom(mlir::Value box, const CoreAssignment &cores);
/// Whether a product reads a loaded value, and whether a vector operation does, under any name.
bool isUsedOnCube(mlir::Value value, const CoreAssignment &cores);
bool isUsedOnVector(mlir::Value value, const CoreAssignment &cores);

/// The part of what it was cut from that an operation's result is.
struct PartOf {
  int64_t group = -1, number = 0;
  bool isPart() const { return group >= 0; }
};
PartOf partOf(mlir::Value value);

/// What a product reads: looks through transposes, casts and new axes to the value that is loaded
/// or computed.
mlir::Value productSource(mlir::Value operand);
/// Whether the cube core loads an operand of a product itself: it is a matrix in global memory.
bool isLoadedOperand(mlir::Value operand);

} // namespace ptl::block
