// Writes scalars as formulas of the values that they are computed from.
#pragma once

#include "mlir/IR/Value.h"

#include <string>

namespace ptl::ir {

/// The formula of a scalar in the checker's notation of lengths: `N*D`, `cdiv(N, 64)`. Empty unless
/// it consists of lengths, integer parameters and constants only.
std::string formulaOf(mlir::Value scalar);

/// Formulas that a scalar is at least and at most; empty: none is known. A scalar that comes from data has such limits
/// where `min`, `max` or `%` give them.
struct Limits {
  std::string least, most;
};
Limits limitsOf(mlir::Value scalar);

/// The formula of a condition over such scalars: `N <= 128`, `or(not(0 < B), 0 < C)`.
std::string relationOf(mlir::Value condition);

} // namespace ptl::ir
