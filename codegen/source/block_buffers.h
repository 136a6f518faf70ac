// Buffers at addresses: their names and declarations.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Finds the buffers and popped tiles of the function, and chooses names for their tiles.
void collectBuffers(BlockCode &code);

/// Chooses a name for each buffer, and prints all declarations but those that `beginsInside` moves
/// into a loop.
void declareBuffers(BlockCode &code);
void declareBuffer(BlockCode &code, mlir::Value buffer);

/// Whether a buffer must be declared inside the loop that it stands in, so that each iteration
/// begins with undefined contents. A push passes on whole slots: bytes beyond those written in this
/// iteration must count as undefined, not as the contents of a buffer at the same addresses.
bool beginsInside(BlockCode &code, mlir::Value buffer);

/// The name that the source gave a value; empty if there is none.
std::string givenName(mlir::Value value);

/// The address in hexadecimal; 0 is written as `0`.
std::string addressText(int64_t address);

} // namespace ptl::source
