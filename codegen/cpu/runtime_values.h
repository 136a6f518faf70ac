// Passes values to the runtime to be printed or reported: texts, scalars and arrays.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The `PtlElem` of a logical element type.
int32_t elemCode(mlir::Type type);
/// The address of a zero-terminated text; equal texts share one constant.
mlir::Value textConstant(Lowering &l, llvm::StringRef text);
/// A `PtlValue[n]` on the stack that holds the text, unless it is empty, and then the values of the
/// source. `texts`, if any: by value, the text that stands in its place.
mlir::Value valueArray(Lowering &l, llvm::StringRef text, mlir::ValueRange values,
                       mlir::ArrayAttr texts = {});

} // namespace ptl::cpu
