// Schedules and their items.
#pragma once

#include "frontend/parse/parser.h"

namespace ptl {

/// Parses `schedule softmax on a3 when N > 64 { … }`.
NodeId parseSchedule(Parser &p);

} // namespace ptl
