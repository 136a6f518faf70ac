// Vectors of elements whose positions are data (gathers).
#pragma once

#include "codegen/cpu/lowering.h"

namespace ptl::cpu {

/// The elements at `at`, whose coordinate along `axis` is `positions`: the registers of elements of
/// `array`. Lanes that are contiguous in memory, or close to each other in any order, are loaded
/// together where such positions are likely; the emitted code tests at run time which case holds.
mlir::Value loadChosen(Lowering &l, const View &view, const Coords &at, size_t axis,
                       mlir::Value array, mlir::Value positions);

/// The position at `at` of an array of positions, as a coordinate: its lanes are then loaded together, and the array is not computed.
/// Nothing, if the positions are in memory or do not count evenly.
std::optional<Coord> evenPosition(Lowering &l, mlir::Value positions, const Coords &at);

} // namespace ptl::cpu
