// A worker of `ptlc mcp`: a process that answers one call, so that whatever a call does ends with it.
#pragma once

namespace ptl::agent {

/// Reads a call from standard input, one line of JSON with `tool`, `arguments` and `roots`, and writes lines to
/// standard output: `{"progress", "total", "message"}` any number of times, then the answer. Ends with its
/// server. Gives the exit code.
int runWorker();

} // namespace ptl::agent
