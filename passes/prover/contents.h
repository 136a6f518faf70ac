// Numbers what the operations of a core compute: equal numbers stand for equal data. Two vector
// cores that do the same are compared by these numbers.
#pragma once

#include "passes/prover/trace.h"

#include <map>

namespace ptl::prove {

/// The contents of one core's memories, followed in program order. Loaded data is identified by its
/// place in global memory, and data that another core handed over by its queue, number and part.
class Contents {
public:
  Contents(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
           uint32_t core);
  /// The number of an event, from its operation, scalars and operands.
  uint64_t of(uint32_t event) const { return results_[event]; }

private:
  /// The bytes of one value, and where the value begins.
  struct Piece {
    int64_t end, base;
    uint64_t value;
  };
  using Memory = std::map<int64_t, Piece>; ///< by where they begin; disjoint
  uint64_t resultOf(const Core &core, const Event &event);
  uint64_t read(const Access &access);
  void write(const Access &access, uint64_t value);
  void cut(Memory &memory, int64_t at);

  const Kernel &kernel_;
  const Execution &execution_;
  const RangeTable &ranges_;
  std::map<uint8_t, Memory> memories_;
  uint64_t scalars_ = 0; ///< what the scalar unit has got from memory so far
  std::vector<uint64_t> results_;
};

/// Whether data that an event reads from global memory leaves its core again, or decides something
/// there. Data that is loaded and never used does not matter.
bool isUsed(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
            uint32_t core, uint32_t event);

} // namespace ptl::prove
