// Scalars by what they are computed from.
#pragma once

#include "mlir/IR/Value.h"

#include <string>

namespace ptl::ir {

/// What a scalar is computed from, as the checker prints lengths: `N*D`, `cdiv(N, 64)`. Empty where
/// that is not lengths, integer parameters and constants alone.
std::string formulaOf(mlir::Value scalar);

/// What a condition says, where that is of such scalars: `N <= 128`, `or(not(0 < B), 0 < C)`.
std::string relationOf(mlir::Value condition);

} // namespace ptl::ir
