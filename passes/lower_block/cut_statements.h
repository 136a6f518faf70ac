// Processes statements whose tiles are too large in parts.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/statement_parts.h"

namespace ptl::block {

/// Processes stores and reductions in parts, in loops of their own, so that no tile of such a
/// computation exceeds `bytes`; tiles that other statements need stay whole. If only a part of a
/// tile is read, only that part is computed. Loads in such a loop have `buffers` slots, and the
/// loop is marked with a description of the parts.
void cutStatements(ir::ParallelOp grid, int64_t bytes, int64_t buffers);

/// Reads the marks of the statements in `root` that are processed in parts; the kernel, the memory
/// and the edit that avoids parts are not filled in.
std::vector<StatementParts> statementsInParts(mlir::Operation *root);

} // namespace ptl::block
