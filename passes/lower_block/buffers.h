// Buffers: their types, places and reuse; and conversions of tiles to the forms that instructions
// require.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Allocates a buffer for these extents. `rotates`: it has a slot for each iteration in flight of
/// the enclosing loop.
mlir::Value allocate(KernelContext &c, ir::Place place, llvm::StringRef layout,
                     const Extents2 &extents, mlir::Type element, mlir::Location loc,
                     bool rotates = false);
/// Finds rows that must be padded to whole blocks. PTOAS requires tiles of one shape where TCVT
/// reads or writes bytes, and where TCMP makes a mask in the shape of its operands; rows of bytes
/// are padded to 32 elements, others to 16.
void findWideRows(KernelContext &c, ir::ParallelOp grid);
/// Allocates a buffer in the vector memory for a tile of this form.
mlir::Value allocateLike(KernelContext &c, const Tile &like, mlir::Location loc);
/// The extents and the element type in which a tile is stored. A column is stored as a row, a mask
/// as bytes.
std::pair<Extents2, mlir::Type> storage(KernelContext &c, const Tile &tile);
/// The type of such a buffer.
pto::TileBufType allocateType(KernelContext &c, const Tile &like);
/// The buffer for the result of `op`: the requested one, that of an operand that is dead
/// afterwards, or a new one. `inPlace` lists the operands that the instruction may overwrite.
mlir::Value destination(KernelContext &c, mlir::Operation *op, const Tile &like,
                        llvm::ArrayRef<unsigned> inPlace = {});
/// The bytes of a buffer under another type: an alias or, since an alias lies without gaps, a window of
/// an alias. `rows` and `cols` are the valid extents where the type does not know them.
mlir::Value seenAs(KernelContext &c, mlir::Location loc, mlir::Value buffer, pto::TileBufType type,
                   mlir::Value rows, mlir::Value cols);
/// The same, or the buffer itself if it has the type.
mlir::Value reshape(KernelContext &c, mlir::Value buffer, pto::TileBufType type, mlir::Value rows,
                    mlir::Value cols);
/// The buffer of a column, viewed as a matrix of one column.
mlir::Value columnView(KernelContext &c, const Tile &column);
/// A view of a buffer in which its whole capacity is valid.
mlir::Value fullView(KernelContext &c, mlir::Value buffer);
/// The tile in a buffer: a tile in global memory is loaded, and a splat is filled.
Tile materialise(KernelContext &c, const Tile &tile, mlir::Location loc);
/// A column or a row expanded to a whole tile, or one element to a column.
Tile expand(KernelContext &c, const Tile &tile, const Extents2 &extents, mlir::Location loc);
/// The type of a buffer: capacities padded as the layout requires, with the valid extents that are
/// known.
pto::TileBufType tileType(KernelContext &c, ir::Place place, llvm::StringRef layout,
                          const Extents2 &extents, mlir::Type element);
/// The type of a tile in a slot of a queue: like `tileType`, with the rows of the other side, which
/// has no masks.
pto::TileBufType crossingType(KernelContext &c, ir::Place place, llvm::StringRef layout,
                              const Extents2 &extents, mlir::Type element);
/// Allocates a buffer in the vector memory of such a type.
mlir::Value allocateCrossing(KernelContext &c, const Extents2 &extents, mlir::Type element,
                             mlir::Location loc);
/// Emits an instruction.
mlir::Operation *emit(KernelContext &c, mlir::Location loc, InstructionId id, mlir::ValueRange ins,
                      mlir::ValueRange outs, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

} // namespace ptl::block
