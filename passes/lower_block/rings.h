// Queues whose slots are global memory that both sides reach by themselves: the producer stores into
// a slot in any parts, the consumer loads from it in any others, and a signal says when it is full
// and when it is free.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// The signals of the cores of a group to each other: sets one or waits for it, on a pipe. `arrays`
/// are those that it is for.
void signalCores(KernelContext &c, bool isSet, pto::PipeKind pipe, int64_t id, Location loc,
                 mlir::ValueRange arrays = {});

/// Binds the memory of a ring on this side.
void openRing(KernelContext &c, size_t number, mlir::Value group);
/// The ring that a value crosses by; null if it is none.
const Ring *ringOf(KernelContext &c, mlir::Value value);

/// How many products have their accumulators and operands beside each other: one where they follow
/// each other at a point and hand over what they have made by rings, else all.
int64_t productsAtOnce(const CoreAssignment &cores, const LowerOptions &options);

/// How the cube core makes a product that goes through a ring: so many columns at a time, in
/// accumulators that are used in turn or in one.
struct RingProduct {
  int64_t cols = 0;
  bool takesTurns = false;
};
RingProduct ringProduct(int64_t rows, int64_t cols, int64_t products, const Machine &machine);

/// The round in which a value crosses, which says its slot: that of the loop around it, or that of
/// the points of the grid which follow each other on a core group.
mlir::Value numberOfRound(KernelContext &c, mlir::Value value);
/// Whether a value crosses once for each point of the grid.
bool crossesByPoint(mlir::Value value);
/// What the producer does with a slot: it waits until it is free, stores some columns of it, and
/// says that it is full.
void awaitSlot(KernelContext &c, const Ring &ring, mlir::Value number, Location loc);
void storeToSlot(KernelContext &c, const Ring &ring, mlir::Value number, const Tile &tile,
                 mlir::Value row, mlir::Value col, Location loc);
void fillSlot(KernelContext &c, const Ring &ring, Location loc);
/// The vector cores store the slices that `join` puts one behind the other.
void pushSlices(KernelContext &c, mlir::Operation *join);
/// The cube core stores a finished accumulator.
void pushAccumulator(KernelContext &c, mlir::Value value);

/// The consumer waits for a slot. The cube core loads it, the vector cores load slices of it later.
void takeSlot(KernelContext &c, mlir::Value value);
/// A slice of the rows of a slot, which the vector cores load.
void loadSlice(KernelContext &c, mlir::Operation *slice, const Tile &slot);
/// Whether a result in the buffer of a slice would still be read when a later slice is loaded to it.
bool outlivesSlice(KernelContext &c, mlir::Value result, mlir::Value slice);
/// Gives slots back that `after` was the last to load from.
void giveSlotsBack(KernelContext &c, mlir::Operation *after);

/// Behind a loop: everything that was stored in its rounds has been loaded.
void drainRings(KernelContext &c, mlir::scf::ForOp loop);
/// Behind the points of the grid, of which this core group has done so many.
void drainRings(KernelContext &c, ir::ParallelOp grid, mlir::Value rounds);

} // namespace ptl::block
