// Tiles in `.pto` text at known addresses, and other tiles at the same bytes.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// The name and the type of an operand, as they are written.
struct PtoOperand {
  std::string name, type;
};

/// Prints the result of an operation as a tile at an address, with a type and with the valid
/// extents that are not constant. Uses of the result then find the address and the type in `code`.
void emitTileAt(PtoCode &code, mlir::Operation *op, const TileAddress &address, TileBufType type,
                mlir::Value rows, mlir::Value cols);

/// Another tile that begins at the same byte, if its address is known; otherwise the tile itself.
PtoOperand asTile(PtoCode &code, mlir::Operation *op, mlir::Value tile, TileBufType type);

/// A tile with the same bytes whose element type is another one of the same width.
PtoOperand asBits(PtoCode &code, mlir::Operation *op, mlir::Value tile, mlir::Type element);

/// A tile with signless elements, like the scalars that are read from and written to it: for
/// unsigned elements another tile with the same bytes.
PtoOperand withoutSign(PtoCode &code, mlir::Operation *op, mlir::Value tile);

/// `value` (an index) times a number of bytes, as i64. New names are derived from `wanted`.
std::string scaled(PtoCode &code, mlir::Operation *op, const std::string &value, int64_t by,
                   llvm::StringRef wanted);

} // namespace ptl::pto
