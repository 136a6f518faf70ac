// Runs the scalar code of a kernel for given inputs, and records the operations that each core
// issues, with their bytes, slots and events.
#pragma once

#include "passes/prover/findings.h"
#include "passes/prover/tiles.h"

#include <cstdint>

namespace ptl::prove {

/// One access to memory by an event.
struct Access {
  bool reads = false, writes = false, scratch = false, atomic = false, global = false;
  bool partly = false; ///< only some of the bytes; the data decide which
  uint8_t place = 0;   ///< on-chip memory
  uint32_t buffer = 0; ///< index of `Execution::buffers`
  uint32_t bytes = 0;  ///< on chip: index of RangeTable; global: of `Execution::boxes`
  int64_t base = 0;    ///< on chip: added to the ranges
  uint32_t held = 0;   ///< as in `AccessSpec`
};

struct Event {
  enum Kind : uint8_t { Operation, Set, Wait, Signal, Await, Barrier, Push, Pop, Free, Alloc };
  Kind kind;
  bool inPlace = false;
  bool orders = true;   ///< Set: false if it may not be executed
  bool guarded = false; ///< Set: its instruction had the setter wait for the waiting pipe
  uint8_t pipe = 0;     ///< its pipe; for a Free through a buffer: the pipe of its readers
  uint16_t flag = 0;    ///< Set, Wait: (source * 8 + destination) * 64 + id; Signal, Await: id;
                        ///< Push, Pop, Free: queue
  uint32_t number = 0;  ///< Push, Pop, Free: number within the queue and core; Alloc: buffer
  uint32_t op = 0;      ///< index of Kernel::operations
  uint32_t scalars = 0; ///< a hash of its scalar operands
  uint32_t access = 0, accesses = 0;
};

/// A buffer: an allocation at one address.
struct Buffer {
  uint32_t op = 0; ///< the operation that makes it
  uint8_t place = 0;
  uint32_t slot = 0;
  int64_t base = 0, bytes = 0;
  uint32_t turn = 0; ///< number of the tile popped into the slot, modulo
  bool operator==(const Buffer &) const = default;
};

struct Core {
  const Function *function = nullptr;
  unsigned subBlock = 0;
  /// A hash that is equal for cores with the same operations on chip, in the same order.
  uint64_t hash = 0;
  int64_t leftOut = 0;       ///< rotations that loops with queues have skipped
  std::vector<Event> events; ///< in program order
  std::vector<Access> accesses;
};

/// The slots of a queue in global memory, in bytes relative to a pointer.
struct QueueArea {
  uint32_t queue = 0, op = 0, pointer = 0;
  int64_t begin = 0, end = 0;
};

/// Iterations of a loop with queues or cross-core events that one core skips, with the number of
/// operations on one queue or event in them.
struct LeftOut {
  uint32_t core = 0;
  Event::Kind kind = Event::Push;
  uint16_t flag = 0;
  int64_t before = 0, count = 0; ///< number of operations before these, and in these
};

/// One run of a kernel on its cores.
struct Execution {
  std::vector<Core> cores;
  std::vector<Buffer> buffers;
  std::vector<GlobalBox> boxes;
  std::vector<QueueArea> areas;
  std::vector<LeftOut> leftOut;
  uint64_t hash = 0;
  bool complete = true;  ///< false: longer than the limit
  bool excluded = false; ///< a requirement of the kernel is violated
};

/// The inputs of an instance: a value for each input of the kernel.
using Inputs = std::vector<int64_t>;

/// Runs all functions. Functions that run beside a cube core, or query the number of their core,
/// run on both vector cores. It issues at most `limit` events. In long loops it skips iterations
/// that repeat earlier ones.
Execution runKernel(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges,
                    Findings &findings, size_t limit);

/// Checks that the id of a cross-core event exists, and that no queue uses it.
void judgeCrossing(const Kernel &kernel, mlir::Operation *op, int64_t id, Findings &findings);

/// A scalar at run time; `data` means that it depends on values in the data.
struct Scalar {
  int64_t value = 0;
  bool data = false;
  int64_t most = INT64_MAX; ///< upper bound, whatever the data

  int64_t bound() const { return data ? most : value; }
};

} // namespace ptl::prove
