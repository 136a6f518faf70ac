// Analyses the timeline of tasks.
#pragma once

#include "runtime/sim/time/analysis.h"

namespace ptl::rt::sim {

/// Analyses the tasks on cores; `path` is left empty, since the caller computes it.
TaskAnalysis analyseTasks(const Timeline &timeline);

/// `` `act`, which writes `h` (f.ptl:7) ``
std::string describeTask(const Timeline &timeline, uint32_t task);
/// The tasks that a task waits for without reading their results: both only use the same memory.
std::vector<TaskEdge> sharedMemoryEdges(const LaunchSpan &launch);
/// Why a task did not begin earlier: `` #3 waits for #1: read after write of `h` ``.
std::string describeWait(const Timeline &timeline, uint32_t task);
/// Why cores were idle: `describeWait` of the task that they ran next.
std::string describeGap(const Timeline &timeline, const CoreGapGroup &group);

} // namespace ptl::rt::sim
