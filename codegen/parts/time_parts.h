// The time of a placed program on the chips of a machine: each part computes what it has, and
// movements go through the ports and links between the chips.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/parts/part_source.h"
#include "runtime/movement/timeline.h"

namespace ptl::parts {

struct TimeQuestion {
  const PlacedProgram &placed;
  const Grid &grid;
  NumberOf number; ///< the value of a dimension
  const movement::Fabric &fabric;
  std::vector<uint32_t> chips; ///< of the fabric, per part
  /// Seconds of a stretch on one chip, given as the text of a program.
  std::function<double(const std::string &source)> seconds;
  bool keepsCarried = false;
};

/// A movement of the program, all groups together.
struct MoveTime {
  ValueId value = 0;
  movement::Algorithm algorithm = movement::Algorithm::Pairwise;
  int64_t sentBytes = 0; ///< by the part that sends most
  double alone = 0;      ///< seconds, with nothing beside it
  double adds = 0;       ///< seconds that the program would take less if it took none
  std::string limit; ///< the carrier that is busy for the longest time, and for which share of it
  double limitShare = 0;
  double begin = 0, end = 0; ///< in the program, over all parts
};

struct StretchTime {
  ValueId first = 0;
  double seconds = 0; ///< of the part that takes longest
  std::string source; ///< what that part computes
};

struct PartsTime {
  double seconds = 0;
  double computing = 0; ///< seconds of the part that computes longest
  int64_t bytes = 0; ///< of arrays of the part that has most: arguments, results, what is between
  std::vector<MoveTime> moves;
  std::vector<StretchTime> stretches;
  std::vector<movement::ChipTask> tasks; ///< by part
  std::vector<size_t> what; ///< per task: its place in `stretches`, or behind those in `moves`
  movement::FabricTimeline timeline;
};

/// Messages of one movement from which on its steps are not simulated.
inline constexpr uint64_t kMostMessages = 4'000'000;

/// Nothing, and the reason, where it cannot be simulated.
std::optional<PartsTime> timeOfParts(const TimeQuestion &question, std::string &why);

/// One movement of the program alone. Nothing, and the reason, where it has more than `mostMessages`, or the
/// program none of it.
std::optional<MoveTime> timeOfMove(const TimeQuestion &question, ValueId move,
                                   uint64_t mostMessages, std::string &why);

/// The chips of a fabric that the parts of a program stand on; `why` says what does not fit.
std::vector<uint32_t> chipsOf(const std::vector<PlacedLevel> &levels, const Grid &grid,
                              const movement::Fabric &fabric, std::string &why);

} // namespace ptl::parts
