// The machine files that `ptl.machines` names: read when the setting changes and when they do.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Whether a file is one of them.
bool isMachineFile(const Session &session, const std::string &path);
/// Reads them into `options`, and tells the user about files that are not valid.
void readMachines(Server &server, CheckOptions &options);
/// One of them has changed.
void machineFilesChanged(Server &server);

} // namespace ptl::lsp
