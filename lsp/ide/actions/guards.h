// What keeps an expression from being computed before its statement.
#pragma once

#include "lsp/ide/actions/refactoring.h"

namespace ptl::ide {

/// Why an expression must not be computed before its statement: it would have another value there,
/// or would be computed where it is not now, which may read beyond an array. Empty if it may.
/// Precondition: it is within a statement.
std::string whyNotBefore(const ActionContext &context, NodeId node);

/// Why `node` is not computed exactly once whenever `ancestor` is; empty if it is.
std::string whyNotAlways(const ActionContext &context, NodeId node, NodeId ancestor);

} // namespace ptl::ide
