// The levels above a chip: the number of parts of each, and the costs of movements between their
// parts, from `levels` of a machine's file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct MachineFile;

/// How the parts of a level are connected. Rates are per chip and direction, in GB/s; 0 means that
/// there is no limit.
struct MachineLevel {
  std::string name;          ///< `chip`, as after `over`
  int64_t count = 1;         ///< in each part of the next outer level
  std::string topology;      ///< `mesh`, `ring`, `switch`
  bool isSamePlace = false;  ///< links connect only chips at the same position within their parts
  bool throughInner = false; ///< one port of the chip serves this level and those below
  double latencyUs = 0;      ///< of the first byte
  double linkRate = 0;       ///< of a link between two parts
  double portRate = 0;       ///< of all links of a chip at this level together
  double partRate = 0;       ///< of all chips of a part together
  double startUs = 0;        ///< of a movement over this level, before any data moves
  double diskRate = 0;       ///< of the disk that all chips of a part share; 0: unknown
  double diskUs = 0;         ///< of its first byte
};

struct MachineLevels {
  std::vector<MachineLevel> levels; ///< innermost first
  double messageUs = 0;             ///< of a chip for each message that it sends
  double combineRate = 0;           ///< GB/s of operands that a chip adds to its own
  double contended = 1; ///< share of a port's rate that remains when several senders share it

  bool known() const { return !levels.empty(); }
};

/// The levels of the machine of that name (without variant), one of `others` or built in; none if
/// there is no such machine or its file has none.
MachineLevels findLevels(std::string_view name, std::span<const MachineFile> others = {});

} // namespace ptl
