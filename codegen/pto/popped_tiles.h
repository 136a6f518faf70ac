// Tiles whose address a pop gives, and windows into them, as `.pto`: only PTOAS knows the address, so a window cannot be a tile
// at an address of its own.
#pragma once

#include "codegen/pto/pto_code.h"

namespace ptl::pto {

/// Prints a tile that a pop will give its address. If nothing but its first row is read, the tile is that row, and the pop
/// brings no more.
void emitPoppedTile(PtoCode &code, DeclareTileOp tile);

/// Prints a window into a popped tile. Records an error if PTOAS has no spelling for it.
void emitPoppedWindow(PtoCode &code, SubsetOp window);

} // namespace ptl::pto
