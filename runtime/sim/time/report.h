// Writes reports about a timeline, for people and programs.
#pragma once

#include "runtime/sim/time/analysis.h"

#include <string>
#include <utility>
#include <vector>

namespace ptl::rt::sim {

struct Report {
  std::string entry, machine;
  std::vector<std::pair<std::string, int64_t>> dims;
  /// The assumed elements of arrays without data: `512`, `0, 1, 2 ...`.
  std::vector<std::pair<std::string, std::string>> elements = {};
  /// Assumed decisions that depend on missing data, by their place in the program: `the loop runs
  /// once`.
  std::vector<std::pair<std::string, std::string>> decisions = {};
  int64_t groupsOfChip = 1;
  bool isPart = false; ///< only the first iterations of loops
  Timeline timeline;
  Analysis analysis;
  std::vector<std::string> assumedDims = {}; ///< those of `dims` that were assumed
};

/// `paged_attention[B=16, length: 4096] on a3`.
std::string describeCall(const Report &report);
/// A few lines: time, bound, critical path.
std::string writeShort(const Report &report);
/// A text report: pipes, waits and their causes, critical path, possible gains, cost of each line.
std::string writePage(const Report &report);
/// The report as JSON.
std::string writeSummary(const Report &report);
/// The lanes of programs: `lane`, `util`, `tasks`, `gaps` with their causes, after the summary.
std::string writeLanes(const Report &report);

/// A possible improvement, with its gain if that was computed.
struct Hint {
  std::string text;
  SourceLocation location; ///< the place that it concerns; empty: the whole program
  double gain = 0;         ///< share of the run; 0: not computed
};

/// The cost of a line of the source.
struct LineCost {
  SourceLocation location;
  std::string names; ///< instructions
  uint64_t count = 0;
  Cycles busy = 0; ///< of all lanes
  Cycles path = 0; ///< of the critical path
};
/// The lines with a cost, most expensive first.
std::vector<LineCost> lineCosts(const Report &report);

/// A page for a browser with the whole timeline.
std::string writeSwimlane(const Report &report);

} // namespace ptl::rt::sim
