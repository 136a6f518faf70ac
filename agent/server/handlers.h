// The tools that the server answers itself: one function for each row of agent/tools.def whose home
// is Server.
#pragma once

#include "agent/server/store.h"

namespace ptl::agent {

/// The state of the server that these tools may read and change.
struct ServerCall {
  const Arguments &arguments;
  const Roots &roots;
  Store &store;
};

/// The answer as the schema of the tool describes it; `isError` where it cannot be given.
#define PTL_HANDLER_Worker(ID)
#define PTL_HANDLER_Server(ID) Json answer##ID(const ServerCall &call, bool &isError);
#define TOOL(ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT) PTL_HANDLER_##WHERE(ID)
#include "agent/tools.def"
#undef PTL_HANDLER_Worker
#undef PTL_HANDLER_Server

Json answerOnServer(const ToolInfo &tool, const ServerCall &call, bool &isError);

/// An error answer whose text is the reason.
Json refusal(const std::string &why);

} // namespace ptl::agent
