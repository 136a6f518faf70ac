// Value numbering of everything that a core computes: equal numbers imply equal data. Two vector
// cores that do the same are compared by these numbers.
#pragma once

#include "passes/prover/trace.h"

#include <map>

namespace ptl::prove {

/// The contents of one core's memories, followed in program order. Loaded data is identified by its
/// place in global memory, and data from another core by its queue, number and part.
class Contents {
public:
  Contents(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
           uint32_t core);
  /// The number of an event, from its operation, scalars and operands.
  uint64_t of(uint32_t event) const { return results_[event]; }

private:
  /// The bytes of one value in memory, and where the value begins.
  struct Piece {
    int64_t end, base;
    uint64_t value;
  };
  using Memory = std::map<int64_t, Piece>; ///< by their first byte; disjoint
  uint64_t resultOf(const Core &core, const Event &event);
  uint64_t read(const Access &access);
  void write(const Access &access, uint64_t value);
  void cut(Memory &memory, int64_t at);

  const Kernel &kernel_;
  const Execution &execution_;
  const RangeTable &ranges_;
  std::map<uint8_t, Memory> memories_;
  uint64_t scalars_ = 0; ///< hash of everything that the scalar unit has read from memory
  std::vector<uint64_t> results_;
};

/// Whether data that an event reads from global memory leaves its core again, or decides control
/// flow there. Data that is loaded and never used does not matter.
bool isUsed(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
            uint32_t core, uint32_t event);

} // namespace ptl::prove
