// Constant expressions: exact values over literals and `const`s.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// The exact value of an expression over literals and `const`s; nothing (and no report) if the
/// expression is not constant. Reports division by zero.
std::optional<ConstValue> evalConst(Context &ctx, NodeId node);
/// The value of an integer constant where one is required (`pipeline 2`, `[64, 128]`, schedules);
/// reports any other expression.
std::optional<int64_t> requireConstInt(Context &ctx, NodeId node, std::string_view what);
/// Reports a number that exceeds its limit (limits.h).
void requireAtMost(Context &ctx, Span span, std::string_view what, int64_t value, int64_t most);

} // namespace ptl
