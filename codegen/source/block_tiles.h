// Tiles: parts of buffers, or the same bytes seen differently.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// A tile at a use: its name if it has one, otherwise its text as a part of its buffer.
Expression tileText(BlockCode &code, mlir::Value tile);
/// The tile as a part of its buffer, whether it has a name or not.
Expression partText(BlockCode &code, mlir::Value tile);

/// The buffer or popped tile that a tile is a part of.
mlir::Value bufferOf(mlir::Value tile);
/// Whether the result differs from its source tile only in its valid extents.
bool isSameTile(mlir::Operation *op);
/// Whether all elements of the tile that an operation creates are valid.
bool isAllValid(BlockCode &code, mlir::Operation *op, pto::TileBufType type);
/// `f32[16, 64]`
std::string shapeText(pto::TileBufType type);

} // namespace ptl::source
