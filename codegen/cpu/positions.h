// Positions in arrays: coordinates, loops over them, and memory accesses at them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

// --- Coordinates. Sums and products of positions are cached until the end of the scope.

mlir::Value memoAdd(Lowering &l, mlir::Value x, mlir::Value y);
mlir::Value memoMul(Lowering &l, mlir::Value x, mlir::Value y);
Coord shifted(Lowering &l, const Coord &coord, mlir::Value offset);
Coord scaled(Lowering &l, const Coord &coord, mlir::Value factor);
/// The coordinate as a number of a scalar type; a vector if it varies by lane.
mlir::Value positionVector(Lowering &l, const Coord &coord, mlir::Type scalar);

// --- lanes

/// The scalar in the form that combines with vectors: a splat while lanes are emitted.
mlir::Value toLanes(Lowering &l, mlir::Value scalar);
/// Runs `body` with this number of lanes (0: scalars) and this mask.
void withLanes(Lowering &l, int64_t lanes, mlir::Value mask, llvm::function_ref<void()> body);

// --- memory

mlir::Value loadAt(Lowering &l, const View &view, const Coords &at);
void storeAt(Lowering &l, const View &view, const Coords &at, mlir::Value value);

// --- loops

using AtPosition = llvm::function_ref<void(Coords &)>;
/// Loops over all positions along the `axes` of `extents`, in row-major order, and sets these
/// coordinates of `at`.
void forAxes(Lowering &l, const Values &extents, llvm::ArrayRef<int64_t> axes, Coords &at,
             AtPosition body);
/// Emits vectors along `axis`: `body` runs with lanes and, for the remainder, with a mask. `cost`
/// is the cost of one element.
void forLanes(Lowering &l, const Values &extents, int64_t axis, Coords &at, int64_t cost,
              AtPosition body);
/// Emits vectors along `length`, `several` at a time. `body` gets the position at which each vector
/// begins, the mask of a last vector that is partial (null for full ones), and the carried values;
/// it returns the next carried values. Iterations of `several` vectors come first, then single
/// vectors. `body` is emitted up to three times.
using VectorBody = llvm::function_ref<Values(llvm::ArrayRef<mlir::Value> starts, mlir::Value mask,
                                             Values carried)>;
Values loopOfVectors(Lowering &l, mlir::Value length, int64_t several, Values carried,
                     VectorBody body);
/// Loops over all positions, with vectors along the last axis whose extent is not 1. The values of
/// `hoisted` are hoisted out of the inner loop (`hoist`).
void forAll(Lowering &l, const Values &extents, int64_t cost, mlir::ValueRange hoisted,
            AtPosition body);
/// The last axis whose extent is not the constant 1; -1 if there is none.
int64_t innerAxis(const Values &extents);

} // namespace ptl::cpu
