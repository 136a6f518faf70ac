// Limits that machines set to grids, and small queries about operations that several files need.
#pragma once

#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ptl::block {

/// Positions in an operand that broadcasts to a box, from those in the box.
llvm::SmallVector<mlir::Value, 4>
broadcastPositions(mlir::Type operand, llvm::ArrayRef<mlir::Value> at, mlir::Value zero);
/// A tile with more positions than this fits in no memory of a chip. Larger counts are cut to it,
/// so that sizes do not overflow.
inline constexpr int64_t kMostCapacity = int64_t(1) << 26;
/// The bounds of lengths by name, as the types of a grid have them.
llvm::DenseMap<mlir::StringAttr, int64_t> capacitiesOf(ir::ParallelOp grid);
/// The most positions of an axis, also where types only name its length; `Extent::kUnknown` if
/// there is no bound.
int64_t capacityIn(const ir::Extent &extent,
                   const llvm::DenseMap<mlir::StringAttr, int64_t> &capacities);
/// The bytes of its own memory that a consumer needs for the tiles that it holds of a queue through
/// global memory. PTO-ISA puts them as far apart as the slots of the ring, although a tile may be
/// only a part of a slot.
inline int64_t heldBytes(int64_t held, int64_t slot, int64_t tile) {
  return (held - 1) * slot + tile;
}
/// Bytes of a machine's memory that kernels may use.
int64_t usableBytes(const Machine &machine, llvm::StringRef place);

} // namespace ptl::block
