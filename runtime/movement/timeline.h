// Movements and computing in virtual time: chips compute and do the steps of lists, whose messages go
// through the ports and links of a fabric, each of which carries one message at a time.
#pragma once

#include "runtime/movement/fabric.h"
#include "runtime/movement/step_list.h"

#include <limits>
#include <optional>

namespace ptl::movement {

/// The parts that move something with each other: rank `i` of the list is `chips[i]`.
struct TimedMove {
  const StepList *list = nullptr;
  std::vector<uint32_t> chips;
  int64_t elementBytes = 4;
  double start = 0; ///< seconds before the first step
};

/// A pause of `times` times as long as lay between the ends of two tasks of the same chip, which have ended when it begins.
struct Pause {
  uint32_t from = 0, to = 0;
  double times = 0;
};

/// What one chip does: it computes for some seconds, does the steps of one rank of a movement, or pauses, which keeps it
/// from nothing else.
struct ChipTask {
  uint32_t chip = 0;
  double seconds = 0;          ///< of computing
  std::optional<size_t> move;  ///< else the number of a movement
  uint32_t rank = 0;           ///< in its list
  std::vector<uint32_t> after; ///< tasks of the same chip
  std::optional<Pause> pause = std::nullopt;
  bool yields = false;  ///< computing that other computing of the chip interrupts
  bool isAside = false; ///< its seconds pass beside all else that the chip does, as those of a disk
  bool isComputing() const { return !move && !pause && !isAside; }
};

/// A stretch in which a carrier has a message.
struct Carried {
  uint32_t carrier = 0;
  uint32_t move = 0;
  double begin = 0, end = 0;
};

struct TimelineOptions {
  bool keepsCarried = false; ///< for pictures
};

struct FabricTimeline {
  struct Stretch {
    double begin = 0, end = 0;
  };
  std::vector<Stretch> tasks;
  std::vector<double> busy; ///< of each carrier
  std::vector<Carrier> carriers;
  std::vector<Carried> carried;
  double end = 0;
  uint64_t messages = 0;

  /// The carrier that has messages for the longest time; none if nothing moved.
  std::optional<uint32_t> busiest() const;
};

/// A chip computes one thing at a time, in the order of the tasks as far as they are ready; movements
/// go on beside that. All is done when the last task has ended.
FabricTimeline timelineOn(const Fabric &fabric, const std::vector<TimedMove> &moves,
                          const std::vector<ChipTask> &tasks, const TimelineOptions &options = {});

/// One movement alone, all ranks beginning together.
FabricTimeline timelineOf(const Fabric &fabric, const TimedMove &move);

/// The steps of the algorithm that takes the least time alone on a fabric, of those that have at most
/// `mostMessages` messages; and that time.
struct ChosenSteps {
  StepList list;
  double seconds = std::numeric_limits<double>::infinity();
  std::string limit;     ///< the busiest carrier
  double limitShare = 0; ///< of the time
};
ChosenSteps chooseSteps(const Request &request, int64_t elementBytes, const Fabric &fabric,
                        const std::vector<uint32_t> &chips, double start);

} // namespace ptl::movement
