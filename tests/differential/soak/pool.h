// Runs programs in processes of their own, several at a time, which may crash or never end.
#pragma once

#include "tests/differential/soak/evaluate.h"

#include <optional>

namespace ptl::differential {

struct Limits {
  int seconds = 20;         ///< of processor time, for one program on all executors
  int64_t megabytes = 6000; ///< of address space
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
  /// the order in which they end. What `done` returns false for ends it all.
  void run(const std::function<std::optional<Case>()> &next,
           const std::function<bool(size_t number, const Case &, const Outcome &)> &done);
  /// All of them; outcomes in their order. Only these executors, if any are named.
  std::vector<Outcome> all(const std::vector<Case> &programs,
                           const std::vector<std::string> &executors = {});
  int jobs() const { return jobs_; }

private:
  struct Child;
  Child start(const Case &program, size_t number) const;
  static Outcome finish(Child &child, int status);

  EvaluateOptions options_;
  Limits limits_;
  int jobs_;
};

} // namespace ptl::differential
