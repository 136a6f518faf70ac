// The handlers of tools that a worker runs: one function for each row of agent/tools.def whose home
// is Worker.
#pragma once

#include "agent/tools/answer.h"

namespace ptl::agent {

#define PTL_HANDLER_Worker(ID) void run##ID(Call &call, Answer &answer);
#define PTL_HANDLER_Server(ID)
#define TOOL(ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT) PTL_HANDLER_##WHERE(ID)
#include "agent/tools.def"
#undef PTL_HANDLER_Worker
#undef PTL_HANDLER_Server

} // namespace ptl::agent
