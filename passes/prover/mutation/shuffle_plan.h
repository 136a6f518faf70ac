// The common data of all interleavings of one execution: its memories, partitioned into atoms such
// that each access covers an atom completely or not at all, and boxes of global memory as cells.
#pragma once

#include "passes/prover/trace.h"

#include <map>
#include <set>

namespace ptl::prove {

struct ShufflePlan {
  ShufflePlan(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
              const Machine &machine);

  /// Consecutive atoms.
  struct Span {
    uint32_t begin, end;
  };
  struct Touch {
    bool reads = false, writes = false, atomic = false, global = false;
    bool outside = false;                 ///< bytes outside the memory
    uint32_t cell = 0;                    ///< of global memory
    uint32_t firstSpan = 0, lastSpan = 0; ///< on chip
  };
  struct CorePlan {
    std::vector<Touch> touches;   ///< as in `Core::accesses`
    std::vector<Span> spans;      ///< of all touches
    std::vector<int64_t> lengths; ///< bytes of each atom
    std::vector<bool> inPlace;    ///< event → writes bytes that it reads
    /// For each event that pushes, for each atom that it reads, whether it has a value: slots are
    /// pushed whole, independently of their valid part.
    std::map<uint32_t, std::vector<bool>> pushed;
    /// The event of a pop, by its queue and number; kNone where there is none.
    std::map<std::pair<uint16_t, uint32_t>, uint32_t> pops;
    std::set<std::pair<uint16_t, Event::Kind>> takesPart; ///< queues, with the role
    uint8_t pipes = 0;                                    ///< in use, a bit each
  };

  /// The number of pipes in use, without the scalar units.
  size_t lanes() const {
    size_t count = 0;
    for (const CorePlan &core : cores)
      count += static_cast<size_t>(__builtin_popcount(core.pipes & 0x7E));
    return count;
  }

  const Kernel &kernel;
  const Execution &execution;
  bool vectorBarrier;
  std::vector<CorePlan> cores;
  std::vector<uint64_t> identity;              ///< of the kernel's operations
  std::vector<GlobalBox> cells;                ///< different boxes
  std::vector<std::vector<uint32_t>> overlaps; ///< cell → others with a common element

private:
  void makeCells();
  void makeAtoms(uint32_t core, const RangeTable &ranges, const Machine &machine);
  void findInPlace(uint32_t core);
  void findPushed(uint32_t core);
};

} // namespace ptl::prove
