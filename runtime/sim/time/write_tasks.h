// Writes the tasks of a program into reports: for people, as JSON, and by core.
#pragma once

#include "frontend/base/json.h"
#include "runtime/sim/time/report.h"

namespace ptl::rt::sim {

/// A part of the page; empty where there is only one kernel.
std::string taskPage(const Report &report);
/// `launches` and `tasks` of an object.
void writeTasks(JsonWriter &json, const Report &report);
/// `cores` of an object: a lane for each core with the blocks of tasks that it ran.
void writeCoreLanes(JsonWriter &json, const Report &report);

} // namespace ptl::rt::sim
