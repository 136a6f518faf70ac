// Liveness of the buffers of a function at block level, in program order.
#pragma once

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::block {

/// A closed range of positions.
struct LiveRange {
  uint32_t begin = 0, end = 0;
  bool contains(const LiveRange &other) const { return begin <= other.begin && other.end <= end; }
};

/// A buffer and its live range. Slots that are used in rotation are one buffer, which is live
/// during every loop in which they rotate. A queue's buffer is always live, since the producer may
/// write at any time. A buffer from outside a loop that is used in the loop is live during the
/// whole loop; one that is allocated in the body is live from its first to its last use.
struct LiveBuffer {
  mlir::Operation *op = nullptr; ///< `alloc_tile`, `alloc_multi_tile`, `reserve_buffer`
  ir::Place place = ir::Place::Vec;
  int64_t bytes = 0; ///< of a slot
  int64_t count = 1;
  LiveRange live;
  uint8_t pipes = 0;            ///< one bit for each pipe that touches it
  std::optional<int64_t> fixed; ///< it already has this address
  bool onePipe() const { return (pipes & (pipes - 1)) == 0; }
};

/// The output of an instruction may have the same bytes as this input, if the input is dead after
/// it.
struct InPlacePair {
  uint32_t input = 0, output = 0; ///< buffers
  uint32_t position = 0;
};

struct LiveLoop {
  LiveRange range;
  uint32_t depth = 0;
  mlir::Operation *op = nullptr;
};

struct BufferLiveness {
  /// instructions, and the begins and ends of loops and branches
  std::vector<mlir::Operation *> positions;
  std::vector<LiveLoop> loops;     ///< outer before inner, in program order
  std::vector<LiveBuffer> buffers; ///< in program order
  std::vector<InPlacePair> inPlace;
};

BufferLiveness analyseBuffers(mlir::func::FuncOp function);

} // namespace ptl::block
