// Writes the timeline of one lane as JSON for programs, one task a line, so that the text can be
// searched. The caller decides what a lane is: a thread, or a pipe of a core.
#pragma once

#include "frontend/base/json.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl::rt::trace {

/// All times are in microseconds.
struct LaneTask {
  std::string_view name;
  int64_t line = 0;
  double start = 0, end = 0;
  double stall = 0; ///< part of it: waiting for shared resources; 0 is omitted
};

/// A period in which a lane had nothing to run although it had more tasks later.
struct LaneGap {
  double start = 0, end = 0;
  std::string_view cause;
  int64_t before = 0; ///< the line of the delayed task
  /// What that task waited for, and where that ran; empty: nothing that ran.
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
