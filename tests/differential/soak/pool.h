// Runs programs in other processes, several at a time, which may crash or never end. A process runs
// some programs one after the other, since much of what the first needs is there for the next; the
// one that it dies of runs once more in a process of its own.
#pragma once

#include "tests/differential/soak/evaluate.h"

#include <optional>

namespace ptl::differential {

struct Limits {
  int seconds = 20;         ///< of processor time, for one program on all executors
  int64_t megabytes = 8000; ///< of address space, for a process
  int silence = 600;        ///< seconds until a process that says nothing is taken for dead
  size_t batch = 20;        ///< programs for a process
};

/// What was observed of one program; a crash and a hang are observations like others.
struct Outcome {
  std::vector<Observation> seen;
  bool isFine() const { return seen.empty(); }
};

class Pool {
public:
  Pool(EvaluateOptions options, Limits limits, int jobs)
      : options_(std::move(options)), limits_(limits), jobs_(jobs) {}

  /// Runs `next()` until it gives nothing; `done` gets each program with its number and outcome, in
  /// the order in which they end. Where `done` returns false, no more are begun.
  void run(const std::function<std::optional<Case>()> &next,
           const std::function<bool(size_t number, const Case &, const Outcome &)> &done);
  /// All of them; outcomes in their order. Only these executors, if any are named.
  std::vector<Outcome> all(const std::vector<Case> &programs,
                           const std::vector<std::string> &executors = {});
  int jobs() const { return jobs_; }

private:
  struct Job; ///< a program with its number
  struct Child;
  using Done = std::function<bool(size_t number, const Case &, const Outcome &)>;
  Child start(std::vector<Job> jobs) const;
  bool hear(Child &child, const Done &done);
  bool finish(Child &child, const Done &done, std::vector<Job> &again);

  EvaluateOptions options_;
  Limits limits_;
  int jobs_;
};

} // namespace ptl::differential
