#include "runtime/sim/pace.h"

#include <algorithm>
#include <cmath>

namespace ptl::rt::sim {

/// The longest window that is tried, in periods.
static constexpr int64_t kMostPeriods = 8;
/// Pipes whose paces differ by less than this have the same pace.
static constexpr double kAlike = 0.02;

int64_t LoopRun::lastPassed() const {
  // A round has passed when the slowest pipe has passed it.
  int64_t last = round;
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
    if (pipes >> pipe & 1)
      last = std::min(last, static_cast<int64_t>(passed[pipe].size()) - 1);
  return last;
}

namespace {

/// The times at which all pipes of all cores passed the rounds of a loop, counted back from the
/// last round.
class Passages {
public:
  explicit Passages(std::span<const LoopRun *const> runs) {
    last_ = INT64_MAX;
    // Only rounds that all cores have run can be compared.
    for (const LoopRun *run : runs) {
      first_ = std::max(first_, run->first);
      last_ = std::min(last_, run->lastPassed());
      for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
        if (run->pipes >> pipe & 1)
          pipes_.push_back(&run->passed[pipe]);
    }
    last_ = pipes_.empty() ? -1 : last_;
  }

  int64_t count() const { return last_ - first_; }
  std::optional<Pace> paceOf(int64_t window, int64_t windows, const PaceQuestion &question) const;
  double roundOfLastHalf() const;

private:
  using Pipe = std::vector<LoopRun::Passage>;
  double timeOf(const Pipe &pipe, int64_t round) const {
    return pipe[static_cast<size_t>(round)].time;
  }
  /// Whether the pipe was late in any of the last rounds.
  bool isLate(const Pipe &pipe, int64_t rounds) const {
    for (int64_t i = 0; i < rounds; ++i)
      if (pipe[static_cast<size_t>(last_ - i)].isLate)
        return true;
    return false;
  }
  std::vector<const Pipe *> deciding(int64_t rounds) const;

  std::vector<const Pipe *> pipes_;
  int64_t first_ = 0, last_ = -1;
};

/// The pipes that determine the pace: those that are late, or all if none is. The scalar unit is
/// ahead of late pipes by as much as their queues hold, so pipes that only follow it say nothing
/// about the pace.
std::vector<const Passages::Pipe *> Passages::deciding(int64_t rounds) const {
  std::vector<const Pipe *> late;
  for (const Pipe *pipe : pipes_)
    // A pipe that is late waits for something other than the scalar unit.
    if (isLate(*pipe, rounds))
      late.push_back(pipe);
  return late.empty() ? pipes_ : late;
}

std::optional<Pace> Passages::paceOf(int64_t window, int64_t windows,
                                     const PaceQuestion &question) const {
  int64_t rounds = window * windows;
  std::vector<const Pipe *> pipes = deciding(rounds);
  double longest = 0, shortest = INFINITY;
  for (const Pipe *pipe : pipes) {
    // The pace is the mean over all windows; each window must be close to it.
    double whole = timeOf(*pipe, last_) - timeOf(*pipe, last_ - rounds);
    double each = whole / static_cast<double>(windows);
    for (int64_t at = last_; at > last_ - rounds; at -= window)
      if (double own = timeOf(*pipe, at) - timeOf(*pipe, at - window);
          std::abs(own - each) > question.tolerance * each)
        return std::nullopt;
    longest = std::max(longest, each);
    shortest = std::min(shortest, each);
  }
  // If pipes have different paces, the loop has not settled yet, and more rounds are needed.
  bool isAlike = shortest >= (1 - kAlike) * longest;
  if (longest <= 0 || (!isAlike && count() - rounds < question.settling))
    return std::nullopt;
  Pace pace{window, longest, last_ - rounds, last_};
  auto isInStep = [&](int64_t round) {
    double before = longest * static_cast<double>(last_ - round) / static_cast<double>(window);
    return std::all_of(pipes.begin(), pipes.end(), [&](const Pipe *pipe) {
      double off = timeOf(*pipe, last_) - timeOf(*pipe, round) - before;
      // One round more or less would make a difference of a whole round, which a quarter excludes.
      return std::abs(off) < 0.25 * longest / static_cast<double>(window);
    });
  };
  // The pace may have begun earlier than it was recognised; later executions of the loop need to
  // run only that far.
  while (pace.settled - window >= first_ && isInStep(pace.settled - window))
    pace.settled -= window;
  pace.settled -= first_;
  return pace;
}

double Passages::roundOfLastHalf() const {
  int64_t rounds = count() / 2;
  double longest = 0;
  // One round is no basis for a pace.
  if (rounds >= 2)
    for (const Pipe *pipe : deciding(rounds))
      longest = std::max(longest, timeOf(*pipe, last_) - timeOf(*pipe, last_ - rounds));
  return longest / static_cast<double>(std::max<int64_t>(rounds, 1));
}

} // namespace

double roundOfLastHalf(std::span<const LoopRun *const> runs) {
  return Passages(runs).roundOfLastHalf();
}

std::optional<Pace> findPace(std::span<const LoopRun *const> runs, const PaceQuestion &question) {
  Passages passages(runs);
  // Short windows are tried first, because they need the fewest rounds.
  for (int64_t periods = 1; periods <= kMostPeriods; ++periods) {
    int64_t window = periods * question.period;
    // One window cannot show that anything repeats.
    int64_t windows = std::max<int64_t>(2, (question.most + window - 1) / window);
    if (window * windows > passages.count())
      break;
    if (std::optional<Pace> pace = passages.paceOf(window, windows, question))
      return pace;
  }
  return std::nullopt;
}

} // namespace ptl::rt::sim
