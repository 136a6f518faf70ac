// The time of a placed program on the chips of a machine: each part computes what it has, and
// movements go through the ports and links between the chips.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/parts/part_source.h"
#include "codegen/parts/part_tasks.h"
#include "runtime/movement/timeline.h"

namespace ptl::parts {

/// The variables of the loops around a value.
using LoopNumbers = std::map<SymbolId, int64_t>;

struct TimeQuestion {
  const PlacedProgram &placed;
  const Grid &grid;
  DimLookup size; ///< the sizes of the program
  const movement::Fabric &fabric;
  std::vector<uint32_t> chips; ///< of the fabric, per part
  /// Seconds of a stretch on one chip, given as the text of a program.
  std::function<double(const std::string &source)> seconds;
  bool keepsCarried = false;
  int64_t foundPages = 0; ///< so many pages at the front of every chain are in their pool
  std::optional<int64_t> rounds = std::nullopt; ///< of every `while`

  /// The same question about another program, which outlives the answer.
  TimeQuestion about(const PlacedProgram &other) const {
    return {other, grid, size, fabric, chips, seconds, keepsCarried, foundPages, rounds};
  }
};

/// A movement of the program, all groups together. In a loop it takes place many times, of which it is the one that takes
/// longest.
struct MoveTime {
  ValueId value = 0;
  int64_t times = 0;
  movement::Algorithm algorithm = movement::Algorithm::Pairwise;
  int64_t sentBytes = 0; ///< by the part that sends most
  double alone = 0;      ///< seconds, with nothing beside it
  double adds = 0;       ///< seconds that the program would take less if it took none, ever
  std::string limit; ///< the carrier that is busy for the longest time, and for which share of it
  double limitShare = 0;
  double begin = 0, end = 0; ///< in the program, over all parts and times
};

struct StretchTime {
  ValueId first = 0;
  int64_t times = 0;
  double seconds = 0; ///< of the part that takes longest
  std::string source; ///< what that part computes
};

/// A loop, all times that the program comes to it together.
struct LoopTime {
  Span span;
  int64_t rounds = 0;
  int64_t simulated = 0; ///< of these; the others are taken to be like them
};

/// The checkpoints of a loop.
struct SaveTime {
  Span span;
  int64_t times = 0;
  int64_t bytes = 0;  ///< of a checkpoint, by the part that writes most
  double seconds = 0; ///< of one, on the disks
  double adds = 0;    ///< that the program takes longer for all of them
  double begin = 0;   ///< of the loop, in the program
  double between = 0; ///< seconds of the rounds from one to the next
};

struct PartsTime {
  double seconds = 0;
  double computing = 0; ///< seconds of the part that computes longest
  /// Of arrays of the part that has most: arguments, results, what is between, of loops in two rounds.
  int64_t bytes = 0;
  int64_t messages = 0;
  std::vector<MoveTime> moves;
  std::vector<StretchTime> stretches;
  std::vector<LoopTime> loops;  ///< of the program, in the order in which it comes to them
  std::optional<SaveTime> save; ///< none where nothing is saved, or nothing known of disks
  std::vector<movement::ChipTask> tasks;
  std::vector<TaskOrigin> origins; ///< per task; numbers are places in the lists above
  movement::FabricTimeline timeline;
};

/// Messages of one movement from which on its steps are not simulated.
inline constexpr uint64_t kMostMessages = 4'000'000;
/// Messages and tasks of all rounds of a loop up to which all of them are simulated; of a loop in another one an eighth.
inline constexpr int64_t kMostInLoops = 400'000;

/// Nothing, and the reason, where it cannot be simulated, as where data decide which arm of a choice is taken. Loops go round by round (`part_tasks.h`); of long ones some rounds
/// stand for the others (`round_plan.h`), for which `mostInLoops` counts.
std::optional<PartsTime> timeOfParts(const TimeQuestion &question, std::string &why,
                                     int64_t mostInLoops = kMostInLoops);

/// One movement of the program alone, in the first round of the loops around it. Nothing, and the reason, where it has more than `mostMessages`, or the
/// program none of it.
std::optional<MoveTime> timeOfMove(const TimeQuestion &question, ValueId move,
                                   uint64_t mostMessages, std::string &why);

} // namespace ptl::parts
