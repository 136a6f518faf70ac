// Statements whose tiles are too large, computed in parts.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/statement_parts.h"

namespace ptl::block {

/// What is stored and what is folded is computed in parts, in loops of their own, so that no tile
/// of such a computation takes more than so many bytes; tiles that are kept for other statements
/// stay whole. Of tiles that are only read in part, that part alone is computed. What such a loop
/// loads has `buffers` slots, and is marked with what is in parts.
void cutStatements(ir::ParallelOp grid, int64_t bytes, int64_t buffers);

/// What the marks say of the statements in `root` that are done in parts: without the kernel, the
/// memory and what would avoid it.
std::vector<StatementParts> statementsInParts(mlir::Operation *root);

} // namespace ptl::block
