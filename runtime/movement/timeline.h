// Simulates movements and computation in virtual time: chips compute and execute lists of steps,
// whose messages pass the ports and links of a fabric, each of which transfers one message at a
// time.
#pragma once

#include "runtime/movement/fabric.h"
#include "runtime/movement/predict.h"
#include "runtime/movement/step_list.h"

#include <limits>
#include <optional>

namespace ptl::movement {

/// The parts that exchange data with each other: rank `i` of the list is `chips[i]`.
struct TimedMove {
  const StepList *list = nullptr;
  std::vector<uint32_t> chips;
  int64_t elementBytes = 4;
  double start = 0; ///< seconds before the first step
};

/// A pause of `times` times the time between the ends of two earlier tasks of the same chip.
struct Pause {
  uint32_t from = 0, to = 0;
  double times = 0;
};

/// A task of one chip: it computes for some seconds, executes the steps of one rank of a movement,
/// or pauses without occupying the chip.
struct ChipTask {
  uint32_t chip = 0;
  double seconds = 0;          ///< of computing
  std::optional<size_t> move;  ///< else the number of a movement
  uint32_t rank = 0;           ///< in its list
  std::vector<uint32_t> after; ///< predecessors, tasks of the same chip
  std::optional<Pause> pause = std::nullopt;
  /// computation with low priority: other computation of the chip preempts it
  bool yields = false;
  bool isAside = false; ///< its time does not occupy the chip, like that of a disk
  bool isComputing() const { return !move && !pause && !isAside; }
};

/// A period in which a resource transfers a message.
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

  /// The resource with the longest busy time; nothing if there was no movement.
  std::optional<uint32_t> busiest() const;
};

/// A chip executes one computation at a time, in the order of the tasks as they become ready;
/// movements proceed in parallel. The timeline ends with the last task.
FabricTimeline timelineOn(const Fabric &fabric, const std::vector<TimedMove> &moves,
                          const std::vector<ChipTask> &tasks, const TimelineOptions &options = {});

/// Simulates one movement alone; all ranks begin simultaneously.
FabricTimeline timelineOf(const Fabric &fabric, const TimedMove &move);

/// The steps of the algorithm that is fastest when it has the fabric for itself, of those with at
/// most `mostMessages` messages; and its time.
struct ChosenSteps {
  StepList list;
  double seconds = std::numeric_limits<double>::infinity();
  std::string limit;     ///< the busiest resource
  double limitShare = 0; ///< its share of the time
};
ChosenSteps chooseSteps(const Request &request, int64_t elementBytes, const Fabric &fabric,
                        const std::vector<uint32_t> &chips, double start);

} // namespace ptl::movement
