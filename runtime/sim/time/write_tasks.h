// Writes the tasks of a program to reports: for people, as JSON, and by core.
#pragma once

#include "frontend/base/json.h"
#include "runtime/sim/time/report.h"

namespace ptl::rt::sim {

/// A part of the text report; empty if there is only one kernel.
std::string taskPage(const Report &report);
/// Writes the members `launches` and `tasks` of an object.
void writeTasks(JsonWriter &json, const Report &report);
/// Writes the member `cores` of an object: a lane for each core with the blocks of tasks that it
/// ran.
void writeCoreLanes(JsonWriter &json, const Report &report);

} // namespace ptl::rt::sim
