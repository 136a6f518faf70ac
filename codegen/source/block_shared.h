// Gives names to expressions that are used more than once: positions, tiles and views get a `let`
// in front of the first statement that dominates all their uses.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// The text of an expression that may be used in several places: its name if it has one or gets
/// one. Equal keys denote expressions with the same text. During the counting pass only the first
/// text of a key is kept.
Expression shareText(BlockCode &code, const std::string &key, SharedText one);

/// A position. If it gets a name, that is derived from `hint`; `n` counts as no hint.
Expression dimText(BlockCode &code, Dim dim, const std::string &hint);
Expression indexText(BlockCode &code, mlir::Value value, const char *hint);

/// To be called between counting and printing: moves the `let` of positions to the start of their
/// block, behind the values they are computed from.
void raiseAnchors(BlockCode &code);

/// Prints the `let`s that belong in front of this statement: operands first, so that the
/// expressions that contain them use their names.
void printSharedBefore(BlockCode &code, mlir::Operation *op);

/// Whether the operation gives the number of the core that runs the kernel, or the number of cores.
bool isIdentity(mlir::Operation *op);

} // namespace ptl::source
