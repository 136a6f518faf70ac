// Decides when each array value is computed, and where it is stored.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Registers an operation whose results are arrays. They stay pending unless they have to be
/// computed now.
void defineValue(Lowering &l, mlir::Operation *op);

/// The view of a materialised value, or of a part or a reordering of one.
std::optional<View> viewOf(Lowering &l, mlir::Value array);
/// Computes the value into memory of its own.
View materialise(Lowering &l, mlir::Value array);
/// A view of the value, which is materialised if it has none.
View requireView(Lowering &l, mlir::Value array);

/// About how many operations one element of the value takes.
int64_t costOf(Lowering &l, mlir::Value value);
/// The same once the value is prepared: what is in memory by now takes a load, however it was made.
int64_t settledCost(Lowering &l, mlir::Value array);
/// Makes sure that `elementAt` of the value needs no producer, by materialising the values inside
/// it that have one. `repeated`: each element is read several times.
void prepare(Lowering &l, mlir::Value array, bool repeated = false);
/// The same for what is inside of pending values of the same extents, elementwise ones, which one loop computes.
void prepareInside(Lowering &l, mlir::ValueRange arrays);
/// Memory for a value that `prepare` would compute into memory of its own because it is shared, for a caller that visits each element once,
/// stores it there and then binds the view. What is inside the value is prepared. Null, with nothing allocated, for all other values.
std::optional<View> placeOfShared(Lowering &l, mlir::Value array);
/// Writes all elements of the value to `dest`. Where `streamed` is there and holds, stores may go past the caches
/// (streamed_store.h).
void evaluateInto(Lowering &l, mlir::Value array, const View &dest, mlir::Value streamed = {});

} // namespace ptl::cpu
