// Lowers loads and stores of matrices in global memory.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Lowers a load, or a part of a tile.
void lowerSlice(KernelContext &c, mlir::Operation *op);
/// Lowers a store on the core that has the value.
void lowerStore(KernelContext &c, ir::StoreOp store);
/// The strides of an array: elements from one position of an axis to the next.
llvm::SmallVector<mlir::Value> stridesOf(KernelContext &c, mlir::Value array);
/// The length of an axis of an array in global memory; lengths of arguments keep their names.
mlir::Value globalLength(KernelContext &c, mlir::Value array, size_t axis);
/// The type with the extents of the box that is written.
mlir::Type storeBoxType(KernelContext &c, ir::StoreOp store);
/// The view of a box in global memory for loads and stores. `said`: its layout, unless it is one of
/// the default ones.
mlir::Value partition(KernelContext &c, const MemoryBox &box, const Extents2 &extents,
                      mlir::Type element, mlir::Location loc, bool transposed = false,
                      bool asRow = false, std::optional<pto::ViewLayout> viewLayout = {});
/// The condition under which this core executes an operation on a box: `present` and, if the
/// operation has a side effect and is not split between the vector cores, that this is the first
/// vector core.
Value onceOnly(KernelContext &c, Operation *op, Value present, llvm::ArrayRef<ir::Extent> extents);
/// Emits `body` in a branch if the box may be empty.
void whenPresent(KernelContext &c, const MemoryBox &box, mlir::Location loc,
                 llvm::function_ref<void()> body);
/// Loads a tile into the vector memory.
Tile load(KernelContext &c, const Tile &memory, mlir::Location loc);
/// Packs conditions, which are bytes in global memory, into bits.
Tile conditionsOf(KernelContext &c, const Tile &bytes, Location loc);
/// Unpacks the bits of a mask to bytes.
Tile bytesOf(KernelContext &c, const Tile &mask, Location loc);

} // namespace ptl::block
