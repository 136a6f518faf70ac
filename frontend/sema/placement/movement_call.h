// Calls of movements, `all_gather(x, over: chip)`.
#pragma once

#include "frontend/sema/calls/check_call.h"
#include "ir/ops/movement_table.h"

#include <optional>
#include <vector>

namespace ptl {

/// A movement changes where an array lies and not what it is: in the checked tree it is a conversion
/// to the type that the array has already, at the place of the call, which executors of one part
/// skip. Null if the name is no movement's.
Expr *checkMovementCall(Context &ctx, NodeId node, std::string_view name,
                        const std::vector<CallArgument> &args);

/// The same of a call of a function: with `over:` it is a movement of rows if it calls that function of
/// `std.experts`. What moves is then the call itself, with all arguments but `over:`. Null for any other call.
Expr *checkRowsCall(Context &ctx, NodeId node, const CallableDecl &callee,
                    const std::vector<CallArgument> &args);

/// `submit(f(x), over: chip)`: a call of a function as a task for one part of a level, whichever has its turn. In the checked tree it is a conversion that changes
/// nothing, as a movement. Null if the name is another one.
Expr *checkSubmit(Context &ctx, NodeId node, std::string_view name,
                  const std::vector<CallArgument> &args);
/// Whether an expression of the checked tree is such a task.
bool isSubmit(const Tree &tree, const Expr &expr);

/// The movement that an expression of the checked tree is; null for any other.
const MovementRecord *movementOf(const Tree &tree, const Expr &expr);
/// What is named with `over:` and with `by:`, in order: levels, and dimensions or a number.
std::vector<NodeId> movementLevels(const Tree &tree, const Expr &expr);
std::vector<NodeId> movementAxes(const Tree &tree, const Expr &expr);
/// The algorithm that a movement names with `how:`; empty when it names none.
std::string_view movementAlgorithm(const Tree &tree, const Expr &expr);
/// The number that a movement names with `by:` or `to:`; nothing when it is no whole number.
std::optional<int64_t> movementNumber(const Tree &tree, const Expr &expr);

} // namespace ptl
