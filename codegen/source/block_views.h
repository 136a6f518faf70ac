// Parts of arrays in global memory.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// A view as an operand of an instruction: an index expression of the array if their axes
/// correspond, otherwise a part of a `make_tensor_view`.
Expression viewText(BlockCode &code, mlir::Value view);
/// The text `make_tensor_view(…)`, whether the view has a name or not.
Expression tensorViewText(BlockCode &code, mlir::Value view);

/// The text `a:b`. The start gets a name, since it is used twice.
std::string spanText(BlockCode &code, Dim offset, Dim size, const char *start, const char *length);

/// The array and the number of an element, as two arguments.
std::string elementOperands(BlockCode &code, mlir::Value pointer, mlir::Value offset);

} // namespace ptl::source
