// Statements and blocks: `let`, `var`, expressions as statements, returns, jumps, asserts.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

Stmt *checkStmt(Context &ctx, NodeId node);
/// A block in a scope of its own; `asValue`: its last expression is its value.
Block *checkBlock(Context &ctx, NodeId node, bool asValue, const Type *expected = nullptr);
/// "a kernel", "a `fn`" …
std::string declKindText(Context &ctx);

} // namespace ptl
