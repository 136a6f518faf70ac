// The call of a built-in that an operation of the checked tree is, on what one part has.
#pragma once

#include "codegen/reference/builtin.h"
#include "frontend/sema/checked_tree.h"

namespace ptl::parts {

/// `shape`: of the result on the part.
reference::BuiltinCall builtinCallOf(const OpExpr &expr, ElemKind elem,
                                     std::vector<reference::Value> operands,
                                     std::vector<int64_t> shape);

/// The call of a conversion of `from` to `elem`.
reference::BuiltinCall conversionOf(const ConvertExpr &expr, ElemKind elem, reference::Value from);

/// Whether a scalar that is a truth value, or an array of one, holds.
bool isTrue(const reference::Value &value);

} // namespace ptl::parts
