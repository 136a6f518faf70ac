// Writes the timeline of one lane as JSON for programs, one task a line, so that the text can be
// searched. The caller decides what a lane is: a thread, or a pipe of a core.
#pragma once

#include "frontend/base/json.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl::rt::trace {

/// All times in microseconds.
struct LaneTask {
  std::string_view name;
  int64_t line = 0;
  double start = 0, end = 0;
  double stall = 0; ///< of it, waiting for what lanes share; 0 is left out
};

/// A stretch in which a lane had no task to run although it had some later.
struct LaneGap {
  double start = 0, end = 0;
  std::string_view cause;
  int64_t before = 0; ///< the line of the task that came late
  /// What that task waited for, and where it ran; without a name: nothing that ran.
  std::string_view waitsFor;
  std::string lane;
  int64_t line = 0;
};

struct LaneText {
  std::string name;
  double utilisation = 0; ///< 0 … 1
  double busy = 0;
  std::vector<std::pair<std::string_view, double>> idle; ///< by cause
  std::vector<LaneTask> tasks;
  std::vector<LaneGap> gaps;
};

/// A number as JSON.
std::string fixed(double value, int digits = 3);
/// An object with `lane`, `util`, `busy_us`, `idle_us`, `tasks` and `gaps`.
void writeLane(JsonWriter &json, const LaneText &lane);

} // namespace ptl::rt::trace
