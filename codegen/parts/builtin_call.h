// The call of a built-in that an operation of the checked tree is, on what one part has.
#pragma once

#include "codegen/reference/builtin.h"
#include "frontend/sema/checked_tree.h"

namespace ptl::parts {

/// `shape`: of the result on the part.
reference::BuiltinCall builtinCallOf(const OpExpr &expr, ElemKind elem,
                                     std::vector<reference::Value> operands,
                                     std::vector<int64_t> shape);

} // namespace ptl::parts
