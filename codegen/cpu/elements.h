// Emits single elements: the code of a scalar, and of one element of an array or of a vector of
// them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The register value of a scalar of the source.
mlir::Value scalarOf(Lowering &l, mlir::Value value);
/// The register value at a position: a vector if a coordinate varies by lane, otherwise a scalar.
/// The value must have been prepared (lower_value.h). Returns null while `hoist` runs.
mlir::Value elementAt(Lowering &l, mlir::Value value, const Coords &at);
/// Emits, and remembers, those parts of an element that do not depend on unknown coordinates (they
/// are loop-invariant).
void hoist(Lowering &l, mlir::Value value, const Coords &at);
/// The coordinates at which an operand of an elementwise operation is read for the element at `at`,
/// after broadcasting.
Coords broadcastCoords(Lowering &l, mlir::Value operand, const Coords &at);

} // namespace ptl::cpu
