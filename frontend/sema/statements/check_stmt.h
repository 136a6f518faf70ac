// Statements and blocks: `let`, `var`, expressions as statements, returns, jumps, asserts.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

Stmt *checkStmt(Context &ctx, NodeId node);
/// Converts a value to the type of the result; a mismatch also points to the declared result.
Expr *convertToResult(Context &ctx, Expr *value, const Type *type, std::string_view what);
/// A block in a scope of its own; `asValue`: its last expression is its value.
Block *checkBlock(Context &ctx, NodeId node, bool asValue, const Type *expected = nullptr);
/// "a kernel", "a `fn`" …
std::string declKindText(Context &ctx);

} // namespace ptl
