// Indices as other languages, and calls, have them.
#pragma once

#include "frontend/sema/context.h"

#include <span>
#include <string_view>

namespace ptl {

/// Whether an index is meant as an argument with this name, which no value has: `x[r, outside: 0.0]`. The check of the
/// index reports it.
bool isArgumentInIndex(Context &ctx, NodeId index, std::string_view argument);
/// Reports indices that are not of this language: `x[:, None]`, `x[r, outside: 0.0]`. False if there are none.
bool reportForeignIndex(Context &ctx, NodeId node, std::span<const NodeId> indices);

} // namespace ptl
