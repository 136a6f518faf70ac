// Diagnostics as the protocol has them, and the requests that ask for them.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// All diagnostics of a file, which is checked as far as it is not.
json diagnosticsOf(Session &session, ide::File &file);

/// A folder of ours in the user's cache, made if it is missing; empty when there is none.
std::string cacheFolder(const std::string &name);
/// Writes a request that the worker died of, to run it again with (`ptl-lsp-worker`); gives the
/// path, empty when it cannot be written.
std::string writeCrashFile(const std::string &entry, const json &request);

} // namespace ptl::lsp
