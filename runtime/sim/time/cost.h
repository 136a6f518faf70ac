// Gives the cost of an operation on a machine, from the table in the machine's file.
#pragma once

#include "machines/costs.h"
#include "machines/machine.h"
#include "runtime/sim/issued.h"

#include <array>
#include <optional>

namespace ptl::rt::sim {

/// Times in cycles of the machine's clock.
using Cycles = double;

/// The cost of one operation of a pipe.
struct OperationCost {
  Cycles head = 0;            ///< additionally, if the pipe was idle
  Cycles busy = 0;            ///< the time for which the pipe is occupied
  Cycles tail = 0;            ///< from then until dependent operations may begin
  int64_t bytes = 0;          ///< transferred to or from global memory
  double rate = 0;            ///< of that transfer without contention, in bytes per cycle
  bool writes = false;        ///< to global memory
  const View *view = nullptr; ///< the view in global memory; null: a slot of a queue
};

class CostModel {
public:
  CostModel(const Machine &machine, MachineCosts costs);
  CostModel(const CostModel &) = delete; // points into itself
  CostModel &operator=(const CostModel &) = delete;

  const MachineCosts &costs() const { return costs_; }
  double clockMhz() const { return clockMhz_; }
  /// The cost of an instruction, a push or a pop; `queue` is the queue of a push or pop.
  OperationCost costOf(const Issued &issued, const Queue *queue) const;
  /// Makes partial operations cost only their valid part.
  void leaveOutPadding() { padding_ = false; }

private:
  static constexpr size_t numWays = kNumPlaces + 1; ///< `gm` is the last index
  static constexpr size_t gm = kNumPlaces;

  OperationCost product(const Issued &issued) const;
  OperationCost vector(const Issued &issued) const;
  OperationCost move(size_t from, size_t to, int64_t bytes) const;
  std::optional<OperationCost> moveOf(const Issued &issued) const;
  OperationCost handOver(const Issued &issued, const Queue &queue) const;

  MachineCosts costs_;
  double parts(int64_t length, int64_t part) const;

  double clockMhz_ = 0;
  bool padding_ = true;
  int64_t repeatBytes_ = 256;
  std::array<const InstructionCost *, std::size(instructions)> byInstruction_{};
  std::array<std::array<const PathCost *, numWays>, numWays> byPath_{};
  std::vector<double> cyclesOfStep_; ///< of a product, by element type
};

} // namespace ptl::rt::sim
