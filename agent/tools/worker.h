// A worker of `ptlc mcp`: a process that answers one call, so that a crash or an endless loop
// affects that call alone.
#pragma once

namespace ptl::agent {

/// Reads a call from standard input, one line of JSON with `tool`, `arguments` and `roots`, and
/// writes lines to standard output: any number of `{"progress", "total", "message"}`, then the
/// answer. Exits when its server does. Returns the exit code.
int runWorker();

} // namespace ptl::agent
