// Buffers: their types, places and reuse, and tiles in the forms that instructions want.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// A buffer for these extents. `rotates`: with a slot for each iteration of the loop around
/// that is in flight.
mlir::Value allocate(KernelContext &c, ir::Place place, llvm::StringRef layout,
                     const Extents2 &extents, mlir::Type element, mlir::Location loc,
                     bool rotates = false);
/// PTOAS wants tiles of one shape where TCVT makes bytes or is given them, and where TCMP makes a
/// mask of the shape of its operands; rows of bytes are padded to 32, others to 16.
void findWideRows(KernelContext &c, ir::ParallelOp grid);
/// A buffer in the vector memory for what such a tile holds.
mlir::Value allocateLike(KernelContext &c, const Tile &like, mlir::Location loc);
/// The extents and the element type in which a tile is stored. A column is kept as a row, a
/// mask as bytes.
std::pair<Extents2, mlir::Type> storage(KernelContext &c, const Tile &tile);
/// The type of that buffer.
pto::TileBufType allocateType(KernelContext &c, const Tile &like);
/// Where the result of `op` goes: the buffer that is wanted for it, that of an operand which
/// dies here, or a new one. `inPlace`: the operands that the instruction may write over.
mlir::Value destination(KernelContext &c, mlir::Operation *op, const Tile &like,
                        llvm::ArrayRef<unsigned> inPlace = {});
/// The same bytes under another type.
mlir::Value reshape(KernelContext &c, mlir::Value buffer, pto::TileBufType type, mlir::Value rows,
                    mlir::Value cols);
/// The buffer of a column as a matrix of one column.
mlir::Value columnView(KernelContext &c, const Tile &column);
/// A buffer with its whole capacity valid.
mlir::Value fullView(KernelContext &c, mlir::Value buffer);
/// As a tile with a buffer: loads what is in memory, fills what is one scalar.
Tile materialise(KernelContext &c, const Tile &tile, mlir::Location loc);
/// A column or a row as a whole tile, one element as a column.
Tile expand(KernelContext &c, const Tile &tile, const Extents2 &extents, mlir::Location loc);
/// The type of a buffer: capacities padded as the layout wants, valid parts as far as they are
/// known.
pto::TileBufType tileType(KernelContext &c, ir::Place place, llvm::StringRef layout,
                          const Extents2 &extents, mlir::Type element);
/// The type of a tile in a slot of a queue: as above, with the rows of the other side, which has no
/// masks.
pto::TileBufType crossingType(KernelContext &c, ir::Place place, llvm::StringRef layout,
                              const Extents2 &extents, mlir::Type element);
/// A buffer in the vector memory of such a type.
mlir::Value allocateCrossing(KernelContext &c, const Extents2 &extents, mlir::Type element,
                             mlir::Location loc);
/// An instruction of this id.
mlir::Operation *emit(KernelContext &c, mlir::Location loc, InstructionId id, mlir::ValueRange ins,
                      mlir::ValueRange outs, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

} // namespace ptl::block
