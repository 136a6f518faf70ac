// Tiles of the block level: slots of rotating buffers, windows, reinterpretations of the same
// bytes; and views of tensors.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/calls/check_call.h"

namespace ptl {

/// Rows and columns; a view of one axis is one row.
using Matrix = std::pair<Extent, Extent>;

/// A block-level call with its node and core set.
BlockExpr *newBlock(Context &ctx, NodeId node, BlockOp op, const Type *type);
/// The type of a tile like another one, with other extents.
const Type *tileLike(Context &ctx, const Type *like, Extent rows, Extent cols);
/// Checks `x[i]`, `t[a:b, c:d]`, `e[i]`: the base is a buffer, a tile or an event.
Expr *checkTileIndex(Context &ctx, NodeId node, Expr *base, std::span<const NodeId> indices);
Expr *checkReshape(Context &ctx, NodeId node, const std::vector<CallArgument> &args);
Expr *checkBitcast(Context &ctx, NodeId node, const std::vector<CallArgument> &args);
/// Whether an operand is an array of the caller, or a part of one: those lie in global memory.
bool isTensor(const Expr *expr);
Expr *checkTensorView(Context &ctx, NodeId node, const std::vector<CallArgument> &args);
/// The extents of a tile, or of a view of a tensor; reports views of more than two axes.
std::optional<Matrix> matrixOf(Context &ctx, const Expr *operand);

} // namespace ptl
