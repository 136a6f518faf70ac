// Tiles in `.pto` text that begin at known addresses, and other tiles at the same bytes.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// The name and the type of an operand, as they are written.
struct PtoOperand {
  std::string name, type;
};

/// Prints the result of an operation as a tile at an address, with a type and with the lengths that
/// are not constant. Uses look the address and the type up in the text.
void emitTileAt(PtoCode &code, mlir::Operation *op, const TileAddress &address, TileBufType type,
                mlir::Value rows, mlir::Value cols);

/// Another tile that begins at the same byte, if it is known where that is; else the tile itself.
PtoOperand asTile(PtoCode &code, mlir::Operation *op, mlir::Value tile, TileBufType type);

/// A tile with the same bytes whose elements are of another type of their width.
PtoOperand asBits(PtoCode &code, mlir::Operation *op, mlir::Value tile, mlir::Type element);

/// A tile whose elements have no sign, as the scalars that go in and out: for one of unsigned
/// elements another with the same bytes.
PtoOperand withoutSign(PtoCode &code, mlir::Operation *op, mlir::Value tile);

/// `value` (an index) times a number of bytes, as i64. Names are made of `wanted`.
std::string scaled(PtoCode &code, mlir::Operation *op, const std::string &value, int64_t by,
                   llvm::StringRef wanted);

} // namespace ptl::pto
