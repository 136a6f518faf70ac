// Translates an operation of the checked tree to a call of the reference executor's built-in, on
// the operands that one part has.
#pragma once

#include "codegen/reference/builtin.h"
#include "frontend/sema/checked_tree.h"

namespace ptl::parts {

/// `shape` is the shape of the result on the part, and `lengths` are the numbers of
/// `OpExpr::shape`.
reference::BuiltinCall builtinCallOf(const OpExpr &expr, ElemKind elem,
                                     std::vector<reference::Value> operands,
                                     std::vector<int64_t> shape,
                                     const std::vector<int64_t> &lengths);

/// The call of a conversion of `from` to `elem`.
reference::BuiltinCall conversionOf(const ConvertExpr &expr, ElemKind elem, reference::Value from);

/// The value of a boolean scalar, or of a boolean array without axes.
bool isTrue(const reference::Value &value);

} // namespace ptl::parts
