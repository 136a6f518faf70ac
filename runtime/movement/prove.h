// Proves a list of steps: that it ends, that what is sent is received, and that every rank gets every
// element of its result, summed in the order that all algorithms share.
#pragma once

#include "runtime/movement/step_list.h"

#include <string>

namespace ptl::movement {

/// Why the list is wrong; empty when it is right. Receives name whom they wait for and sends do not
/// wait, so all schedules give the same results, and one of them decides. Elements between which no
/// box of the list begins or ends share their fate, so one of each such cell stands for all.
std::string findMistake(const StepList &list);

} // namespace ptl::movement
