// The task graph of a program's chips for the simulation of its time; the rounds of loops are
// unrolled.
#pragma once

#include "codegen/parts/round_plan.h"
#include "runtime/movement/timeline.h"

#include <map>

namespace ptl::parts {

/// The origin of a task.
struct TaskOrigin {
  enum class Kind : uint8_t {
    Stretch, ///< `number` is the place in the list of stretches
    Move,    ///< `number` is the place in the list of moves
    LeftOut, ///< computation in rounds that are not simulated; `number` is the loop
    Pause,   ///< the time of such rounds, between the tasks before and after them
    Page,    ///< a page that is read from a disk; `number` is the value
  };
  Kind kind = Kind::Stretch;
  size_t number = 0;
  uint32_t part = 0;
  auto operator<=>(const TaskOrigin &) const = default;
};

/// Builds the tasks. A task depends on those that produce its inputs. In loops, moreover:
/// - A part executes the stretches and movements of the source in the order of the rounds: each
/// depends on its own instance in the round before.
/// - A part works on at most two rounds of a loop at once, since it has memory for the arrays of
/// two: a round begins when the last but one before it has ended.
/// - A task that depends on rounds before some that are left out is delayed by the time of these.
/// The delay is the pace of the last simulated rounds, measured between the ends of the task that
/// is depended on. The chip is kept busy for as long as these rounds would compute, with low
/// priority.
class PartTasks {
public:
  /// `chips` has the chip of each part.
  explicit PartTasks(const std::vector<uint32_t> &chips) : chips_(chips) {}

  /// A part computes for some seconds, occupying its chip.
  uint32_t compute(TaskOrigin origin, double seconds, const std::vector<uint32_t> &after);
  /// Takes some seconds without occupying the part's chip.
  uint32_t pass(TaskOrigin origin, double seconds, const std::vector<uint32_t> &after);
  /// A part executes the steps of one rank of a movement; the movement's number is chosen by the
  /// caller.
  uint32_t move(TaskOrigin origin, size_t movement, uint32_t rank,
                const std::vector<uint32_t> &after);

  void beginLoop(size_t loop) { active_.push_back(loop); }
  void beginRound();
  void endRound();
  /// Rounds that are not simulated, behind at least `pace + 2` that were. What chips compute in them is the mean of the last `turn`.
  void leaveOut(int64_t rounds, size_t pace, size_t turn);
  void endLoop() { active_.pop_back(); }

  const std::vector<movement::ChipTask> &tasks() const { return tasks_; }
  const std::vector<TaskOrigin> &origins() const { return origins_; }

private:
  /// The tasks of a round, and for each part those that no other task of the round depends on.
  struct Round {
    uint32_t begin = 0, end = 0;
    std::vector<std::vector<uint32_t>> last = {};
  };
  /// Rounds that were left out: the rounds before them, and the pauses that follow tasks of the
  /// last two of these.
  struct Gap {
    std::vector<Round> rounds;
    double count = 0;
    size_t pace = 0;
    std::map<uint32_t, uint32_t> pauses = {};
    /// by part, the task that stands for the computation of the gap
    std::map<uint32_t, uint32_t> computing = {};
  };
  struct Loop {
    std::vector<Round> rounds; ///< over all times that the program enters the loop
    std::optional<Gap> gap;    ///< the last one
    uint32_t begin = 0;        ///< the first task of the round that is being built
  };

  uint32_t add(TaskOrigin origin, movement::ChipTask task, const std::vector<uint32_t> &after);
  uint32_t push(TaskOrigin origin, movement::ChipTask task);
  uint32_t behindGaps(uint32_t task);
  uint32_t pause(Gap &gap, uint32_t task, uint32_t current);
  std::optional<uint32_t> likeIn(const Round &round, const Round &of, uint32_t task) const;

  const std::vector<uint32_t> &chips_;
  std::vector<movement::ChipTask> tasks_;
  std::vector<TaskOrigin> origins_;
  std::map<size_t, Loop> loops_;
  std::vector<size_t> active_; ///< enclosing loops, the outermost first
  std::map<TaskOrigin, uint32_t> latest_;
};

} // namespace ptl::parts
