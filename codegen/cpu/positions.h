// Positions in arrays: coordinates, loops over them, and memory accesses at them.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

// --- Coordinates. Sums and products of positions are remembered to the end of the scope.

mlir::Value memoAdd(Lowering &l, mlir::Value x, mlir::Value y);
mlir::Value memoMul(Lowering &l, mlir::Value x, mlir::Value y);
Coord shifted(Lowering &l, const Coord &coord, mlir::Value offset);
Coord scaled(Lowering &l, const Coord &coord, mlir::Value factor);
/// The coordinate as a number of a scalar type; a vector if it varies by lane.
mlir::Value positionVector(Lowering &l, const Coord &coord, mlir::Type scalar);

// --- lanes

/// The scalar in the form in which it is combined with vectors: a splat if there are lanes.
mlir::Value toLanes(Lowering &l, mlir::Value scalar);
/// Runs `body` with this number of lanes (0: scalars) and this mask.
void withLanes(Lowering &l, int64_t lanes, mlir::Value mask, llvm::function_ref<void()> body);

// --- memory

mlir::Value loadAt(Lowering &l, const View &view, const Coords &at);
void storeAt(Lowering &l, const View &view, const Coords &at, mlir::Value value);

// --- loops

using AtPosition = llvm::function_ref<void(Coords &)>;
/// Loops over all positions of the `axes` of `extents`, in order, and sets these coordinates.
void forAxes(Lowering &l, const Values &extents, llvm::ArrayRef<int64_t> axes, Coords &at,
             AtPosition body);
/// Emits vectors along `axis`: `body` runs with lanes and, where needed, a mask. `cost` is that of
/// an element.
void forLanes(Lowering &l, const Values &extents, int64_t axis, Coords &at, int64_t cost,
              AtPosition body);
/// Vectors along a length of `length`, `several` at a time: `body` gets where each of them begins, the mask of a last one that
/// is short (null for whole ones), and the carried values, and returns the next ones. Rounds of `several` vectors come first,
/// then single ones. `body` is emitted up to three times.
using VectorBody = llvm::function_ref<Values(llvm::ArrayRef<mlir::Value> starts, mlir::Value mask,
                                             Values carried)>;
Values loopOfVectors(Lowering &l, mlir::Value length, int64_t several, Values carried,
                     VectorBody body);
/// Loops over all positions, with vectors along the last axis that is not 1; `hoisted` is prepared
/// outside the inner loop.
void forAll(Lowering &l, const Values &extents, int64_t cost, mlir::ValueRange hoisted,
            AtPosition body);
/// The last axis that is not 1; -1: there is none.
int64_t innerAxis(const Values &extents);

} // namespace ptl::cpu
