// `ptlc mcp`: a server of the Model Context Protocol, on standard input and output or as streamable HTTP on
// loopback. It has no compiler in it: each call of a tool is answered by a process of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ptl::agent {

struct ServeOptions {
  std::vector<std::string> roots; ///< folders that calls may touch; empty: the working folder
  std::optional<int> port;        ///< of HTTP, 0: any; nothing: standard input and output
  std::string token;              ///< that HTTP clients show; empty: one is made and printed
};

/// Serves until the client disconnects or a signal ends the server; all workers have ended by then.
/// Returns the exit code. If the server cannot start, the reason is printed on standard error.
int serve(const ServeOptions &options);

} // namespace ptl::agent
