// Arrays of one element that stand for values in registers.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Lets the element of an array of one element, which has no memory, be this value until the end of the scope.
void bindElement(Lowering &l, mlir::Value array, mlir::Value element);

} // namespace ptl::cpu
