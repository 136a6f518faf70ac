// What the checks of the block level share: check_block_level.cpp (declarations),
// check_block_call.cpp (calls), check_block_tile.cpp (tiles and views), check_block_operands.cpp
// (operands of instructions), block_machine.cpp (what a machine has).
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/expressions/check_expr.h"

namespace ptl {

/// Rows and columns; a view of one axis is one row.
using Matrix = std::pair<Extent, Extent>;

/// The kind of core that executes what stands here; empty: not said.
std::string coreHere(Context &ctx);
/// Reports an instruction that stands where another kind of core, or none, executes it.
void requireCore(Context &ctx, Span span, std::string_view name, std::string_view core);
/// The kind of core that has a place.
std::string_view coreOfPlace(Place place);

/// A number that is known when the kernel is compiled, at least `least`; unknown after a report.
Dim checkStaticNumber(Context &ctx, NodeId node, std::string_view what, int64_t least);

/// The type of a tile like another one.
const Type *tileLike(Context &ctx, const Type *like, Extent rows, Extent cols);
/// `x[i]`, `t[a:b, c:d]`, `e[i]`: the base is a buffer, a tile or an event.
Expr *checkTileIndex(Context &ctx, NodeId node, Expr *base, std::span<const NodeId> indices);
Expr *checkReshape(Context &ctx, NodeId node, const std::vector<CallArgument> &args);
Expr *checkBitcast(Context &ctx, NodeId node, const std::vector<CallArgument> &args);
Expr *checkTensorView(Context &ctx, NodeId node, const std::vector<CallArgument> &args);
/// The extents of a tile, or of a view of a tensor; reports views of more than two axes.
std::optional<Matrix> matrixOf(Context &ctx, const Expr *operand);

/// Operands and attributes of an instruction.
Expr *checkInstruction(Context &ctx, NodeId node, const InstructionInfo &info,
                       const std::vector<CallArgument> &args);

/// A block-level call: its node and core are set.
BlockExpr *newBlock(Context &ctx, NodeId node, BlockOp op, const Type *type);

} // namespace ptl
