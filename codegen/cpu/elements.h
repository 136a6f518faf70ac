// Emits single elements: the code of a scalar, and of one element of an array or of a vector of
// them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The register value of a scalar of the source.
mlir::Value scalarOf(Lowering &l, mlir::Value value);
/// The register value at a position: a vector if a coordinate varies by lane, else a scalar. The
/// value has been prepared (lower_value.h). While hoisting it is null.
mlir::Value elementAt(Lowering &l, mlir::Value value, const Coords &at);
/// Emits, and remembers, the parts of an element that do not depend on the unknown coordinates.
void hoist(Lowering &l, mlir::Value value, const Coords &at);
/// Where the operand of an elementwise operation is read for the element at `at`.
Coords broadcastCoords(Lowering &l, mlir::Value operand, const Coords &at);

} // namespace ptl::cpu
