// Converts diagnostics to the protocol, and answers the requests for them.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// All diagnostics of a file that are shown now, as a JSON array. Parts of it that are not checked yet
/// are checked first.
std::string diagnosticsOf(Session &session, ide::File &file);

/// A folder of ours in the user's cache, made if it is missing; empty when there is none.
std::string cacheFolder(const std::string &name);
/// Writes the request because of which the worker died to a file, to run it again with
/// `ptl-lsp-worker`. Returns the path, or an empty string if it cannot be written.
std::string writeCrashFile(const std::string &entry, const json &request);

} // namespace ptl::lsp
