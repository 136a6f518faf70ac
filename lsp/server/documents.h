// Texts that change: what becomes of it that a file has another one.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// A file in a folder that is watched was written, made or removed by another program.
void fileChanged(Server &server, const std::string &path);

} // namespace ptl::lsp
