// Gives names to expressions that are written more than once: positions, tiles and views get a `let`
// before the first statement that all their uses are in or behind.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// The text of something that is written here, among other places: its name where it has one or gets
/// one. Equal keys stand for what has the same text. While that is counted only the first text is
/// right.
Expression shareText(BlockCode &code, const std::string &key, SharedText one);

/// A position, which is called like `hint` if it gets a name; `n` is no hint.
Expression dimText(BlockCode &code, Dim dim, const std::string &hint);
Expression indexText(BlockCode &code, mlir::Value value, const char *hint);

/// Between counting and printing: positions get their names at the start of their block, behind what
/// they are computed from.
void raiseAnchors(BlockCode &code);

/// Prints what gets its name before this statement: parts first, so that what they are parts of is
/// written with their names.
void printSharedBefore(BlockCode &code, mlir::Operation *op);

/// Whether it says which core runs the kernel, or how many do.
bool isIdentity(mlir::Operation *op);

} // namespace ptl::source
