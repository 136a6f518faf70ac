// The tasks of the chips of a program in time, rounds of loops one after the other.
#pragma once

#include "codegen/parts/round_plan.h"
#include "runtime/movement/timeline.h"

#include <map>

namespace ptl::parts {

/// What a task is of.
struct TaskOrigin {
  enum class Kind : uint8_t {
    Stretch, ///< `number` of those of the answer
    Move,    ///< likewise
    LeftOut, ///< what is computed in rounds that are not simulated; `number` of the loop
    Pause,   ///< the time of such rounds, between what is in front of them and what is behind
    Page,    ///< a page that is read from a disk; `number` of the value
  };
  Kind kind = Kind::Stretch;
  size_t number = 0;
  uint32_t part = 0;
  auto operator<=>(const TaskOrigin &) const = default;
};

/// Tasks come after those that make what they need. In loops, moreover:
/// - A part does the stretches and movements of the source in the order of the rounds: each comes after itself in the round
///   before.
/// - A part is in two rounds of a loop at most, since it has room for the arrays of two: a round begins when the one before
///   the last has ended.
/// - What depends on rounds in front of some that are left out is later by their time, which is read, for each task that
///   something depends on, from its ends in the last rounds. The chip computes for as long as it would in these rounds, when
///   it has nothing else to do.
class PartTasks {
public:
  /// `chips`: per part.
  explicit PartTasks(const std::vector<uint32_t> &chips) : chips_(chips) {}

  /// A part computes for some seconds.
  uint32_t compute(TaskOrigin origin, double seconds, const std::vector<uint32_t> &after);
  /// Something takes a part some seconds and keeps it from nothing else.
  uint32_t pass(TaskOrigin origin, double seconds, const std::vector<uint32_t> &after);
  /// A part does the steps of a rank of a movement, which has a number of its own.
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
  /// The tasks of a round, and of each part those that no other task of the round comes after.
  struct Round {
    uint32_t begin = 0, end = 0;
    std::vector<std::vector<uint32_t>> last = {};
  };
  /// Rounds that were left out: those in front of them, and the pauses behind tasks of the last two of these.
  struct Gap {
    std::vector<Round> rounds;
    double count = 0;
    size_t pace = 0;
    std::map<uint32_t, uint32_t> pauses = {};
    std::map<uint32_t, uint32_t> computing = {}; ///< by part, for the round behind the gap
  };
  struct Loop {
    std::vector<Round> rounds; ///< of all times that the program came to it
    std::optional<Gap> gap;    ///< the last one
    uint32_t begin = 0;        ///< of the round that is being made
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
  std::vector<size_t> active_; ///< loops, outer ones first
  std::map<TaskOrigin, uint32_t> latest_;
};

} // namespace ptl::parts
