// How long movements take.
#pragma once

#include "runtime/movement/step_list.h"

namespace ptl::movement {

/// The time at which the last rank finishes, if all begin simultaneously.
double predictSeconds(const StepList &list, int64_t elementBytes, const Cost &cost);
/// The steps of the algorithm that takes the least predicted time; of those that take about as long, the first.
StepList chooseSteps(const Request &request, int64_t elementBytes, const Cost &cost);

} // namespace ptl::movement
