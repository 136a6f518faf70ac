// The trace of a recorded run on this CPU: lanes are threads.
#pragma once

#include "runtime/recorder.h"

#include <string>
#include <utility>
#include <vector>

namespace ptl::rt::trace {

/// A recorded call, with the names to show for it.
struct RecordedRun {
  std::string entry, machine;
  std::vector<std::pair<std::string, int64_t>> dims;
  const Recorder *recorder = nullptr;
};

/// Writes the trace for Perfetto and Chrome: a lane for each thread, arrows for dependences.
std::string writeRunChrome(const RecordedRun &run);
/// Writes the lanes as JSON for programs: the summary, then for each lane `lane`, `util`, `tasks`,
/// and `gaps` with their causes.
std::string writeRunLanes(const RecordedRun &run);

} // namespace ptl::rt::trace
