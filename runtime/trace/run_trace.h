// What a recorded run on this CPU says: lanes are threads.
#pragma once

#include "runtime/recorder.h"

#include <string>
#include <utility>
#include <vector>

namespace ptl::rt::trace {

/// A recorded call and what it is called.
struct RecordedRun {
  std::string entry, machine;
  std::vector<std::pair<std::string, int64_t>> dims;
  const Recorder *recorder = nullptr;
};

/// For Perfetto and Chrome: a lane for each thread, arrows for dependences.
std::string writeRunChrome(const RecordedRun &run);
/// By lane for programs: `lane`, `util`, `tasks`, `gaps` with their causes; the summary before
/// them.
std::string writeRunLanes(const RecordedRun &run);

} // namespace ptl::rt::trace
