// The lowered forms of values: scalars, tiles, lengths; and constants.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Reports, once, that the chip does not support this, and ends the lowering.
void fail(KernelContext &c, mlir::Operation *op, const std::string &what);
/// The lowered form of a scalar from outside this function. Null if this core does not have it.
mlir::Value scalarOf(KernelContext &c, mlir::Value value);
/// Whether a value is not an array.
bool isScalar(const KernelContext &c, mlir::Value value);
/// Whether this core computes a scalar.
bool isNeeded(const KernelContext &c, mlir::Value scalar);
/// The lowered form of an array; its address is stable while other tiles are set. Null if this core
/// does not have it.
const Tile *tileOf(KernelContext &c, mlir::Value value);
/// Sets the lowered form of an array.
void setTile(KernelContext &c, mlir::Value value, const Tile &tile);
/// An array as a matrix: capacities and lengths. Nothing after an error.
std::optional<Extents2> tileExtentsOf(KernelContext &c, mlir::Operation *op, mlir::Type type);
/// A tile for an array of this type, without a buffer, in the form in which computed values are
/// stored. Nothing after an error.
std::optional<Tile> tileFor(KernelContext &c, mlir::Operation *op, mlir::Type type);
/// An upper bound of an axis on this core.
int64_t capacityOf(const KernelContext &c, const ir::Extent &extent);
/// Whether this is the length of the current range of a loop or grid, `min(end - at, size)`, which
/// is never 0.
bool isRangeLength(const KernelContext &c, mlir::Value length);
/// The number of positions of the axis, as a value.
mlir::Value lengthOf(KernelContext &c, const ir::Extent &extent);
/// An `index` constant; equal numbers share one.
mlir::Value constant(KernelContext &c, int64_t value);
/// A constant of an element type.
mlir::Value constantOf(KernelContext &c, mlir::Type type, double value);
/// The smaller one of two positions.
mlir::Value minimum(KernelContext &c, mlir::Value a, mlir::Value b);
/// A location with the name of a value.
mlir::Location named(const KernelContext &c, mlir::Value value);

} // namespace ptl::block
