// Parts of arrays in global memory.
#pragma once

#include "codegen/source/block_code.h"

namespace ptl::source {

/// A view where an instruction takes it: an index of the array where its axes are those of the view,
/// else a part of a `make_tensor_view`.
Expression viewText(BlockCode &code, mlir::Value view);
/// `make_tensor_view(…)`, whether it has a name or not.
Expression tensorViewText(BlockCode &code, mlir::Value view);

/// `a:b`; the start has a name, since it stands there twice.
std::string spanText(BlockCode &code, Dim offset, Dim size, const char *start, const char *length);

/// The array and the number of an element, as arguments.
std::string elementOperands(BlockCode &code, mlir::Value pointer, mlir::Value offset);

} // namespace ptl::source
