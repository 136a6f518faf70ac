// Element types by their names in machine files.
#pragma once

#include "mlir/IR/Types.h"

#include <string>

namespace ptl::ir {

/// `f32`, `u8`, `bool` … of a builtin scalar type; `index` is `i64`.
std::string machineTypeName(mlir::Type type);

} // namespace ptl::ir
