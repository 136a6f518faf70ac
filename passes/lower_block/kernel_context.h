// The state of the lowering of one kernel for one kind of core; a mixed kernel is lowered once for
// each kind. Each side emits its own instructions. A value that passes between cores is pushed and
// popped at the same place of the program, so both sides agree on the order.
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

/// What a core has of a length that is dealt to the vector cores, at least 1, and whether it has anything.
struct DealtLength {
  mlir::Value part, present;
};

/// The state of the function that is being emitted, and of the values of its grid. The lowering is
/// functions that read and change it.
struct KernelContext {
  KernelContext(mlir::func::FuncOp function, CoreKind core, const CoreAssignment &cores,
                const QueuePlan &plan, const Machine &machine, const LowerOptions &options,
                const Report &report);

  /// Binds a value from outside the grid to an argument of the function; for an array, the argument
  /// is its pointer.
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
  /// row lengths that must be padded to whole blocks of bytes
  llvm::DenseSet<int64_t> wideRows;
  ir::SharedBuffers sharing; ///< the values in each buffer, by its root
  HeldValues held;           ///< the values that instructions read and write
  /// by value: the buffer in which it should be computed
  llvm::DenseMap<mlir::Value, mlir::Value> wanted;
  llvm::DenseMap<mlir::Value, mlir::Value> queues;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> pointerNames;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> globalLengths;
  /// by length and a number that says the capacity and whether it is dealt
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, DealtLength> dealtLengths;
  /// The exclusive upper bound of the range of a loop's or the grid's variable.
  llvm::DenseMap<mlir::Value, mlir::Value> rangeEnds;
  llvm::SmallVector<Waiting> waiting;
  llvm::SmallVector<Popped> popped;
  llvm::DenseMap<size_t, std::pair<mlir::Value, mlir::StringAttr>> ringMemory;
  llvm::DenseMap<mlir::Value, Ring> rings; ///< by the value that passes through it
  llvm::SmallVector<TakenSlot> taken;      ///< slots of rings that have not been freed yet
  /// by buffer: the last slice of a slot loaded into it
  llvm::DenseMap<mlir::Value, mlir::Value> slices;
  llvm::DenseMap<mlir::Value, mlir::Value> poppedInto; ///< the value for which a slot was popped
  mlir::Value workspace, subblock, isFirst; ///< isFirst: an i1, of the vector cores of a group
  int64_t workspaceBytes = 0;
  CubeNeeds cubeNeeds; ///< of a mixed kernel: scalars and control flow of the cube core
  mlir::StringAttr peer;
  /// The slots of values that pass from one stage of a loop to a later one, the operation in front
  /// of which they are allocated, and their number.
  llvm::DenseMap<mlir::Value, mlir::Value> keptSlots;
  mlir::Operation *keptBefore = nullptr;
  int64_t keptCount = 2;
  /// code that does not depend on the point is emitted before it
  mlir::Operation *gridLoop = nullptr;
  mlir::Value gridRound; ///< number of points that the core group has finished; null if unused
  llvm::SmallVector<Rotation> rotations;
  PartOf part;                                        ///< of the product that is being lowered
  ProductCut cut;                                     ///< of that product
  size_t productRotations = 0;                        ///< number of rotations around that product
  llvm::DenseMap<mlir::Type, int64_t> productBuffers; ///< allocated for it so far, by type
  /// The buffers that the parts of a product share in rotation, by group, type, number among those
  /// of the type, and turn.
  llvm::DenseMap<std::tuple<int64_t, mlir::Type, int64_t, int64_t>, mlir::Value> partBuffers;
  bool dynamicValid = false, failed = false;
};

using CarriedTiles = llvm::ArrayRef<std::pair<unsigned, Tile>>;

} // namespace ptl::block
