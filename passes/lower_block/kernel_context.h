// The state of the lowering of one kernel for one kind of core; a mixed kernel is lowered once for
// each. Each side makes its own instructions. A value that crosses is pushed and popped at the same
// place of the program, so both sides agree on the order.
#pragma once

#include "ir/dialect/instruction_op.h"
#include "passes/analysis/shared_buffers.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/cube_scalars.h"
#include "passes/lower_block/cut_products.h"
#include "passes/lower_block/held_values.h"
#include "passes/lower_block/limits.h"
#include "passes/lower_block/plan_queues.h"
#include "passes/lower_block/tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace ptl::block {

/// The state of the function that is made, and of the values of its grid. Every part of the
/// lowering is functions that read and change it.
struct KernelContext {
  KernelContext(mlir::func::FuncOp function, CoreKind core, const CoreAssignment &cores,
                const QueuePlan &plan, const Machine &machine, const LowerOptions &options,
                const Report &report);

  /// Binds a value outside of the grid to an argument of the function: an array to its pointer.
  void bindScalar(mlir::Value value, mlir::Value argument) { scalars[value] = argument; }
  void bindPointer(mlir::Value array, mlir::Value pointer, mlir::StringAttr name) {
    pointers[array] = pointer;
    pointerNames[pointer] = name;
  }
  /// Binds a length of arrays in global memory by its name in types.
  void bindLength(mlir::StringAttr symbol, mlir::Value argument) {
    lengths[symbol] = argument;
    globalLengths[symbol] = argument;
  }
  /// Sets the global memory of the queues; `bytes` is its size per core group.
  void bindWorkspace(mlir::Value pointer, int64_t bytes) {
    workspace = pointer;
    workspaceBytes = bytes;
  }
  /// Sets the global memory of a ring, by the number of its queue.
  void bindRing(size_t queue, mlir::Value pointer, mlir::StringAttr name) {
    ringMemory[queue] = {pointer, name};
  }
  /// The function of the other kind of core.
  void bindPeer(mlir::StringAttr name) { peer = name; }

  mlir::func::FuncOp function;
  CoreKind core;
  const CoreAssignment &cores;
  const QueuePlan &plan;
  const Machine &machine;
  const LowerOptions &options;
  const Report &report;
  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars, pointers;
  TileMap tiles;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> lengths;
  llvm::DenseMap<mlir::StringAttr, int64_t> capacities;
  llvm::DenseSet<mlir::StringAttr> neverEmpty; ///< names of lengths up to 1 that are 1
  llvm::DenseSet<int64_t> wideRows;            ///< lengths of rows that take whole blocks of bytes
  ir::SharedBuffers sharing;                   ///< which values lie in which buffer, by its root
  HeldValues held;                             ///< which values the instructions read and leave
  llvm::DenseMap<mlir::Value, mlir::Value> wanted; ///< a value that is best made in this buffer
  llvm::DenseMap<mlir::Value, mlir::Value> queues;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> pointerNames;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> globalLengths;
  llvm::DenseMap<mlir::Value, mlir::Value> dealtLengths, dealtPresent;
  /// The end of the range that a variable of a loop or of the grid goes along; the variable is
  /// always below it.
  llvm::DenseMap<mlir::Value, mlir::Value> rangeEnds;
  llvm::SmallVector<Waiting> waiting;
  llvm::SmallVector<Popped> popped;
  llvm::DenseMap<size_t, std::pair<mlir::Value, mlir::StringAttr>> ringMemory;
  llvm::DenseMap<mlir::Value, Ring> rings;         ///< by the value that goes through
  llvm::SmallVector<TakenSlot> taken;              ///< slots of rings that are not given back yet
  llvm::DenseMap<mlir::Value, mlir::Value> slices; ///< by buffer: the last slice of a slot in it
  llvm::DenseMap<mlir::Value, mlir::Value> poppedInto; ///< the value that a slot was popped for
  mlir::Value workspace, subblock, isFirst; ///< isFirst: an i1, of the vector cores of a group
  int64_t workspaceBytes = 0;
  CubeNeeds cubeNeeds; ///< of a mixed kernel: what the cube core computes and goes through
  mlir::StringAttr peer;
  /// The slots of values that one stage of a loop makes for a later one, the operation before which
  /// they are made, and their number.
  llvm::DenseMap<mlir::Value, mlir::Value> keptSlots;
  mlir::Operation *keptBefore = nullptr;
  int64_t keptCount = 2;
  mlir::Operation *gridLoop = nullptr; ///< what does not depend on the point stands before it
  mlir::Value gridRound; ///< how many points the core group has done before; null: nothing asks
  llvm::SmallVector<Rotation> rotations;
  PartOf part;                                        ///< of the product that is lowered
  ProductCut cut;                                     ///< of that product
  size_t productRotations = 0;                        ///< rotations around that product
  llvm::DenseMap<mlir::Type, int64_t> productBuffers; ///< that it has made, by type
  /// The buffers that the parts of a product use in turn, by group, type, number among those of the
  /// type, and turn.
  llvm::DenseMap<std::tuple<int64_t, mlir::Type, int64_t, int64_t>, mlir::Value> partBuffers;
  bool dynamicValid = false, failed = false;
};

using CarriedTiles = llvm::ArrayRef<std::pair<unsigned, Tile>>;

} // namespace ptl::block
