// Computes when the buffers of a function at block level are live, in program order.
#pragma once

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::block {

/// A closed range of positions.
struct LiveRange {
  uint32_t begin = 0, end = 0;
  bool contains(const LiveRange &other) const { return begin <= other.begin && other.end <= end; }
};

/// A buffer. Slots that are used in turn are one buffer, which is live through every loop in which
/// they rotate. A queue's buffer is live throughout, since the producer writes at any time. A
/// buffer that was made outside a loop and is used in it is live through the loop; one that is made
/// in the body is live from its first to its last use.
struct LiveBuffer {
  mlir::Operation *op = nullptr; ///< `alloc_tile`, `alloc_multi_tile`, `reserve_buffer`
  ir::Place place = ir::Place::Vec;
  int64_t bytes = 0; ///< of a slot
  int64_t count = 1;
  LiveRange live;
  uint8_t pipes = 0;            ///< one bit for each pipe that touches it
  std::optional<int64_t> fixed; ///< it has this address already
  bool onePipe() const { return (pipes & (pipes - 1)) == 0; }
};

/// Allows the output of an instruction to have the same bytes as this input, if the input is not
/// needed after it.
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
  std::vector<mlir::Operation *> positions; ///< instructions, begins and ends of loops and branches
  std::vector<LiveLoop> loops;              ///< outer before inner, in program order
  std::vector<LiveBuffer> buffers;          ///< in program order
  std::vector<InPlacePair> inPlace;
};

BufferLiveness analyseBuffers(mlir::func::FuncOp function);

} // namespace ptl::block
