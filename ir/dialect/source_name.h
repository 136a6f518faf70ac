// What values of the block level are called in the source.
#pragma once

#include "mlir/IR/Value.h"

#include <string>

namespace ptl::pto {

/// What a value is called in the source (`ptl.name` of arguments, names in locations), else what it
/// is (`block`, `i`); empty if neither says anything.
std::string sourceName(mlir::Value value);

} // namespace ptl::pto
