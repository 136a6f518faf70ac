// Proves a list of steps: that it terminates, that every message is received, and that every rank
// gets every element of its result, summed in the order that all algorithms share.
#pragma once

#include "runtime/movement/step_list.h"

#include <string>

namespace ptl::movement {

/// Why the list is wrong; empty if it is right. Receives name their sender and sends do not block,
/// so all schedules give the same results, and one schedule decides. Elements that no boundary of a
/// box separates behave equally, so one of each such cell represents all.
std::string findMistake(const StepList &list);

} // namespace ptl::movement
