// The machine files that `ptl.machines` names: they are read when the setting or a file changes.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Whether a file is one of them.
bool isMachineFile(const Session &session, const std::string &path);
/// Reads them into `options`, and tells the user about files that are not valid.
void readMachines(Server &server, CheckOptions &options);
/// Handles that one of them has changed.
void machineFilesChanged(Server &server);

} // namespace ptl::lsp
