// Tells the user about a crash of the compiler, which runs in the worker.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Records that the worker crashed in a request about a declaration. A diagnostic there gives the
/// reason and a file with the request, from which `ptlc-ir` can reproduce it, until the text
/// changes.
void compilerFailed(Server &server, const std::string &path, const std::string &entry,
                    const std::string &message, const json &request);

} // namespace ptl::lsp
