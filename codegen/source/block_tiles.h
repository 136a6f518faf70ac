// Tiles: parts of buffers, or the same bytes seen differently.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// A tile where it is used: by its name if it has one, else as a part of its buffer.
Expression tileText(BlockCode &code, mlir::Value tile);
/// As a part of its buffer, whether it has a name or not.
Expression partText(BlockCode &code, mlir::Value tile);

/// The buffer or popped tile behind a tile.
mlir::Value bufferOf(mlir::Value tile);
/// Whether a tile differs from its source in what is valid alone.
bool isSameTile(mlir::Operation *op);
/// Whether all of the tile that an operation makes is valid.
bool isAllValid(BlockCode &code, mlir::Operation *op, pto::TileBufType type);
/// `f32[16, 64]`
std::string shapeText(pto::TileBufType type);

} // namespace ptl::source
