// The estimated time of a placed program on the chips of a machine: each part computes its blocks,
// and movements pass the ports and links between the chips.
#pragma once

#include "codegen/parts/grid.h"
#include "codegen/parts/part_source.h"
#include "codegen/parts/part_tasks.h"
#include "runtime/movement/timeline.h"

namespace ptl::parts {

/// The variables of the loops that enclose a value.
using LoopNumbers = std::map<SymbolId, int64_t>;

struct TimeQuestion {
  const PlacedProgram &placed;
  const Grid &grid;
  DimLookup size; ///< the sizes of the program
  const movement::Fabric &fabric;
  std::vector<uint32_t> chips; ///< the chip of the fabric, per part
  /// Seconds that one chip takes for a stretch, which is given as the text of a program.
  std::function<double(const std::string &source)> seconds;
  bool keepsCarried = false;
  /// the number of pages at the front of every chain that are in their pool
  int64_t foundPages = 0;
  std::optional<int64_t> rounds = std::nullopt; ///< rounds assumed for every `while`

  /// The same question about another program, which must outlive the answer.
  TimeQuestion about(const PlacedProgram &other) const {
    return {other, grid, size, fabric, chips, seconds, keepsCarried, foundPages, rounds};
  }
};

/// A movement of the program, all groups together. If it is executed several times, in a loop, the
/// figures are those of its longest execution.
struct MoveTime {
  ValueId value = 0;
  int64_t times = 0;
  movement::Algorithm algorithm = movement::Algorithm::Pairwise;
  int64_t sentBytes = 0; ///< by the part that sends most
  double alone = 0;      ///< seconds, if it had the fabric for itself
  /// seconds that the program would save if the movement took no time, over all its executions
  double adds = 0;
  std::string limit; ///< the resource that is busy for longest, with its share of the time
  double limitShare = 0;
  double begin = 0, end = 0; ///< within the program, over all parts and executions
  int64_t chunks = 1;        ///< in which it goes beside a product
  double gain = 0;           ///< seconds that the program would take longer if it went as a whole
};

struct StretchTime {
  ValueId first = 0;
  int64_t times = 0;
  double seconds = 0; ///< of the slowest part
  std::string source; ///< what that part computes
};

/// A loop; the figures are sums over all times that the program enters it.
struct LoopTime {
  Span span;
  int64_t rounds = 0;
  int64_t simulated = 0; ///< rounds that were simulated; the others are assumed to be like them
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
  /// Memory for arrays of the part that needs most: arguments, results, intermediates, and arrays
  /// of loops in two rounds.
  int64_t bytes = 0;
  int64_t messages = 0;
  std::vector<MoveTime> moves;
  std::vector<StretchTime> stretches;
  std::vector<LoopTime> loops; ///< in the order in which the program enters them
  /// nothing if no loop saves, or the machine file describes no disks
  std::optional<SaveTime> save;
  std::vector<movement::ChipTask> tasks;
  std::vector<TaskOrigin> origins; ///< per task; numbers are indices of the lists above
  movement::FabricTimeline timeline;
};

/// The number of messages of one movement above which its steps are not simulated.
inline constexpr uint64_t kMostMessages = 4'000'000;
/// The number of messages and tasks up to which all rounds of a loop are simulated; an eighth of it
/// for nested loops.
inline constexpr int64_t kMostInLoops = 400'000;

/// Simulates the program. Nothing, with the reason in `why`, if that is impossible, for instance
/// because data decide which arm of a choice is taken. Loops are simulated round by round
/// (`part_tasks.h`); of loops that exceed `mostInLoops`, some rounds represent the others
/// (`round_plan.h`).
std::optional<PartsTime> timeOfParts(const TimeQuestion &question, std::string &why,
                                     int64_t mostInLoops = kMostInLoops);

/// Simulates one movement of the program alone, in the first round of its enclosing loops. Nothing,
/// with the reason in `why`, if it has more than `mostMessages`, or no such movement exists.
std::optional<MoveTime> timeOfMove(const TimeQuestion &question, ValueId move,
                                   uint64_t mostMessages, std::string &why);

} // namespace ptl::parts
