// The names of values of the block level in the source.
#pragma once

#include "mlir/IR/Value.h"

#include <string>

namespace ptl::pto {

/// The name of a value in the source (`ptl.name` of arguments, names in locations), otherwise a
/// word for its kind (`block`, `i`); empty if there is neither.
std::string sourceName(mlir::Value value);

} // namespace ptl::pto
