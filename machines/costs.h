// The costs of operations on a machine, in cycles of its clock, from `costs` of its file. 0 means
// that there is no cost, or that it has not been published.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl {

struct MachineFile;

/// The cost of an instruction on tiles: `head` if its pipe was idle, `slope` per repeat of the
/// vector unit, `row` per row, and `tail` until dependent operations may begin.
struct InstructionCost {
  std::string name; ///< as PTOAS spells it; `default` applies to those without a row
  double head = 0, slope = 0, row = 0, tail = 0;
};

/// The cost of a move: `latency` if its pipe was idle (directly after another move it is hidden),
/// and `head` always.
struct PathCost {
  std::string from, to;
  double latency = 0, head = 0, bytesPerCycle = 0;
};

/// Cycles of a product: head + cycles of the operands' type * ceil(m/rows) * ceil(n/columns) *
/// ceil(k*size/depthBytes)
struct ProductCost {
  double head = 0;
  int64_t rows = 0, columns = 0, depthBytes = 0;
  std::vector<std::pair<std::string, double>> cycles;

  double cyclesOf(std::string_view element) const;
};

/// The memory that all cores of a chip share. Rates are bytes per cycle of all cores together.
struct SharedMemoryCost {
  int64_t l2Bytes = 0, lineBytes = 0;
  double l2Rate = 0;
  double memoryRate = 0, memoryRateOfCore = 0;
  double missLatency = 0; ///< of a transfer that misses in L2
};

/// The costs of the scalar unit, and of operations that order pipes and cores.
struct ControlCost {
  double scalar = 0;     ///< an operation of the scalar unit
  double issue = 0;      ///< putting an instruction into the queue of its pipe
  double scalarLoad = 0; ///< reading an element of global memory or of a tile
  double event = 0;      ///< an operation on an event, or a barrier
  double mask = 0;       ///< in addition, for a vector instruction whose rows are not full repeats
  double crossCore = 0;  ///< from one core of a group to another
  double signal = 0;     ///< of the hub, for each signal between cores of the whole chip
  double launch = 0;     ///< from the start of a kernel to the first operation of its cores
  double block = 0;      ///< the same per core group, and again for each further block of a group
  double submit = 0;     ///< of the orchestrator for a task
  double dispatch = 0;   ///< of a scheduler for a task
  double schedulers = 0; ///< number of schedulers that work in parallel
};

struct MachineCosts {
  std::vector<InstructionCost> instructions;
  std::vector<PathCost> paths;
  ProductCost product;
  SharedMemoryCost memory;
  ControlCost control;

  /// False for machines without known costs.
  bool known() const { return !paths.empty(); }
  /// The row of an instruction, otherwise that of `default`; null if there is neither.
  const InstructionCost *instruction(std::string_view name) const;
  const PathCost *path(std::string_view from, std::string_view to) const;
};

/// The costs of the machine of that name (without variant), one of `others` or built in; nothing if
/// there is no such machine or its file has none.
std::optional<MachineCosts> findCosts(std::string_view name,
                                      std::span<const MachineFile> others = {});

} // namespace ptl
