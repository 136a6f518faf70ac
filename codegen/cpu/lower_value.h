// Decides when each array value is computed, and in which memory.
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// Registers an operation whose results are arrays. They stay pending (are computed at their uses)
/// unless they must be computed now.
void defineValue(Lowering &l, mlir::Operation *op);

/// The view of a value that is materialised, or is a part or a permutation of such a value; nothing
/// for other values.
std::optional<View> viewOf(Lowering &l, mlir::Value array);
/// Computes the value into newly allocated memory.
View materialise(Lowering &l, mlir::Value array);
/// A view of the value, which is materialised if it has no view.
View requireView(Lowering &l, mlir::Value array);

/// An estimate of the operations that one element of the value takes.
int64_t costOf(Lowering &l, mlir::Value value);
/// Like `costOf`, once the value is prepared: whatever is in memory by now costs a load, however it
/// was computed.
int64_t settledCost(Lowering &l, mlir::Value array);
/// What costs as much is computed once and loaded where it is needed again.
constexpr int64_t kCostlyToRepeat = 4;
/// Ensures that `elementAt` of the value needs no producer: the operands inside it that have one
/// are materialised. `repeated` says that each element is read several times.
void prepare(Lowering &l, mlir::Value array, bool repeated = false);
/// Like `prepare`, for the operands of pending elementwise values of the same extents that one loop
/// computes.
void prepareInside(Lowering &l, mlir::ValueRange arrays);
/// Allocates memory for a value that `prepare` would materialise because it has several uses, for a
/// caller that visits each element once, stores it there and then binds the view. The operands of
/// the value are prepared. For all other values nothing is returned and nothing is allocated.
std::optional<View> placeOfShared(Lowering &l, mlir::Value array);
/// Writes all elements of the value to `dest`. Where the condition `streamed` is given and holds,
/// stores may bypass the caches (streamed_store.h).
void evaluateInto(Lowering &l, mlir::Value array, const View &dest, mlir::Value streamed = {});

} // namespace ptl::cpu
