// What the user hears of it when the compiler, which runs in the worker, fails itself.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Notes that the worker died because of a request about a declaration. A diagnostic there names the
/// reason and a file with the request, with which `ptl-lsp-worker` can be run again, until the text
/// changes.
void compilerFailed(Server &server, const std::string &path, const std::string &entry,
                    const std::string &message, const json &request);

} // namespace ptl::lsp
