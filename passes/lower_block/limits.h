// Limits that machines impose on grids, and small queries about operations that several files use.
#pragma once

#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ptl::block {

/// The positions in an operand that is broadcast to a box, for positions in the box.
llvm::SmallVector<mlir::Value, 4>
broadcastPositions(mlir::Type operand, llvm::ArrayRef<mlir::Value> at, mlir::Value zero);
/// A tile with more positions than this fits no memory of a chip. Larger counts are clamped to it,
/// so that computations of sizes cannot overflow.
inline constexpr int64_t kMostCapacity = int64_t(1) << 26;
/// The upper bounds of lengths by name, from the types of a grid.
llvm::DenseMap<mlir::StringAttr, int64_t> capacitiesOf(ir::ParallelOp grid);
/// An upper bound of an axis, also if the type only names its length; `Extent::kUnknown` if there
/// is none.
int64_t capacityIn(const ir::Extent &extent,
                   const llvm::DenseMap<mlir::StringAttr, int64_t> &capacities);
/// The bytes of its own memory that a consumer needs for the tiles of a queue through global memory
/// that it holds. PTO-ISA places them at the distance of the ring's slots, even if a tile is only a
/// part of a slot.
inline int64_t heldBytes(int64_t held, int64_t slot, int64_t tile) {
  return (held - 1) * slot + tile;
}
/// The bytes of a machine's memory that are available to kernels.
int64_t usableBytes(const Machine &machine, llvm::StringRef place);

} // namespace ptl::block
