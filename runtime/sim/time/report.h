// Writes what people and programs read about a timeline.
#pragma once

#include "runtime/sim/time/analysis.h"

#include <string>
#include <utility>
#include <vector>

namespace ptl::rt::sim {

struct Report {
  std::string entry, machine;
  std::vector<std::pair<std::string, int64_t>> dims;
  /// What elements of arrays were assumed to be, where no data was given: `512`, `0, 1, 2 ...`.
  std::vector<std::pair<std::string, std::string>> elements = {};
  /// Decisions that depend on data that was not given, by their place in the program: `the loop
  /// runs once`.
  std::vector<std::pair<std::string, std::string>> decisions = {};
  int64_t groupsOfChip = 1;
  bool isPart = false; ///< the first rounds of loops only
  Timeline timeline;
  Analysis analysis;
  std::vector<std::string> assumedDims = {}; ///< those of `dims` that nobody gave
};

/// `paged_attention[B=16, length: 4096] on a3`.
std::string describeCall(const Report &report);
/// A few lines: time, bound, critical path.
std::string writeShort(const Report &report);
/// A page: pipes, waits and their causes, critical path, what would be gained, cost of each line.
std::string writePage(const Report &report);
/// The page as JSON.
std::string writeSummary(const Report &report);
/// By lane for programs: `lane`, `util`, `tasks`, `gaps` with their causes; the summary before
/// them.
std::string writeLanes(const Report &report);
/// For Perfetto and Chrome: lanes for pipes, arrows for dependences, counters for buffers and
/// bandwidth.
std::string writeChromeTrace(const Report &report);
/// A page for a browser with everything in it.
std::string writeSwimlane(const Report &report);

/// What can be done better, each with what it would bring where that was computed.
struct Hint {
  std::string text;
  SourceLocation location; ///< of what it is about; empty: the whole
  double gain = 0;         ///< of the run, 0: not computed
};
std::vector<Hint> hintsOf(const Report &report);

/// The cost of a line of the source.
struct LineCost {
  SourceLocation location;
  std::string names; ///< instructions
  uint64_t count = 0;
  Cycles busy = 0; ///< of all lanes
  Cycles path = 0; ///< of the critical path
};
/// The lines that cost something, the dearest first.
std::vector<LineCost> lineCosts(const Report &report);

} // namespace ptl::rt::sim
