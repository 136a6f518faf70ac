// Changes of texts, and their consequences.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Handles that another program wrote, created or removed a file in a watched folder.
void fileChanged(Server &server, const std::string &path);

} // namespace ptl::lsp
