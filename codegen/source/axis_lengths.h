// Lengths of axes as polynomials.
#pragma once

#include "codegen/source/position_text.h"

namespace ptl::source {

/// The length of an axis of an array or of storage; unknown if it cannot be derived.
Dim lengthOf(Positions &positions, mlir::Value array, unsigned axis);
/// Whether a position is the length of an axis.
bool isLengthOf(Positions &positions, mlir::Value position, mlir::Value array, unsigned axis);

} // namespace ptl::source
