// Buffers at addresses: what they are called, and their declarations.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// Finds the buffers and popped tiles of the function, and what their tiles are called.
void collectBuffers(BlockCode &code);

/// Gives each buffer its name, and prints the declarations but of those that begin inside.
void declareBuffers(BlockCode &code);
void declareBuffer(BlockCode &code, mlir::Value buffer);

/// Whether a buffer begins with each turn of the loop that it stands in. A push hands on whole
/// slots: bytes beyond what is written this time are nobody's, not those of a buffer that shares
/// them.
bool beginsInside(BlockCode &code, mlir::Value buffer);

/// The name that the source gave a value; empty if none.
std::string givenName(mlir::Value value);

/// In hexadecimal, but for 0.
std::string addressText(int64_t address);

} // namespace ptl::source
