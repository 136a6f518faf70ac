// `ptlc mcp`: the server for agents (agent/server).
#include "agent/server/serve.h"

#include "driver/commands.h"

#include <cstdlib>

namespace ptl {

ExitCode runMcp(const Options &options) {
  if (!options.positional().empty())
    return usageError("`ptlc mcp` takes folders as `--root DIR`");
  agent::ServeOptions how;
  how.roots = options.values(OptionId::Root);
  if (std::optional<int64_t> port = options.number(OptionId::Port))
    how.port = static_cast<int>(*port);
  if (const char *token = std::getenv("PTL_MCP_TOKEN"))
    how.token = token;
  return static_cast<ExitCode>(agent::serve(how));
}

} // namespace ptl
