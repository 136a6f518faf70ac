// Rings: queues whose slots lie in global memory that both kinds of cores access. The producer
// stores a slot in any parts, the consumer loads it in any other parts, and events signal when a
// slot is full and when it is free.
#pragma once

#include "passes/lower_block/kernel_context.h"

namespace ptl::block {

/// Sets a cross-core event, or waits for it, on a pipe. `arrays` are the arrays whose accesses it
/// orders.
void signalCores(KernelContext &c, bool isSet, pto::PipeKind pipe, int64_t id, Location loc,
                 mlir::ValueRange arrays = {});

/// Binds the memory of a ring on this side.
void openRing(KernelContext &c, size_t number, mlir::Value group);
/// The ring through which a value passes; null if it passes otherwise, or not at all.
const Ring *ringOf(KernelContext &c, mlir::Value value);

/// The number of products whose accumulators and operands are live simultaneously: 1 if the
/// products of a point execute in sequence and pass their results on through rings, otherwise all
/// of them.
int64_t productsAtOnce(const CoreAssignment &cores, const LowerOptions &options);

/// How the cube core computes a product whose result passes through a ring: `cols` columns at a
/// time, in several accumulators in rotation, or in a single one.
struct RingProduct {
  int64_t cols = 0;
  bool takesTurns = false;
};
RingProduct ringProduct(int64_t rows, int64_t cols, int64_t products, const Machine &machine);

/// The number that determines the slot of a value: of the iteration of its loop, or of the point
/// among those of its core group.
mlir::Value numberOfRound(KernelContext &c, mlir::Value value);
/// Whether a value passes once for each point of the grid.
bool crossesByPoint(mlir::Value value);
/// The three steps of the producer: it waits until a slot is free, stores some columns of it, and
/// signals that it is full.
void awaitSlot(KernelContext &c, const Ring &ring, mlir::Value number, Location loc);
void storeToSlot(KernelContext &c, const Ring &ring, mlir::Value number, const Tile &tile,
                 mlir::Value row, mlir::Value col, Location loc);
void fillSlot(KernelContext &c, const Ring &ring, Location loc);
/// The vector cores store the slices that the `concat` `join` joins.
void pushSlices(KernelContext &c, mlir::Operation *join);
/// The cube core stores a finished accumulator.
void pushAccumulator(KernelContext &c, mlir::Value value);

/// The consumer waits for a slot. The cube core then loads it; the vector cores load slices of it
/// later.
void takeSlot(KernelContext &c, mlir::Value value);
/// A slice of the rows of a slot, which the vector cores load.
void loadSlice(KernelContext &c, mlir::Operation *slice, const Tile &slot);
/// Whether a result in the buffer of a slice is still needed when a later slice is loaded into that
/// buffer.
bool outlivesSlice(KernelContext &c, mlir::Value result, mlir::Value slice);
/// Frees the slots whose last load is `after`.
void giveSlotsBack(KernelContext &c, mlir::Operation *after);

/// Waits, after a loop, until everything that its iterations stored has been loaded.
void drainRings(KernelContext &c, mlir::scf::ForOp loop);
/// The same after the points of the grid; `rounds` is the number that this core group computed.
void drainRings(KernelContext &c, ir::ParallelOp grid, mlir::Value rounds);

} // namespace ptl::block
