// Converts diagnostics to the protocol, and answers the requests for them.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// All diagnostics of a file that are shown now, as a JSON array. Parts of it that are not checked yet
/// are checked first.
std::string diagnosticsOf(Session &session, ide::File &file);

} // namespace ptl::lsp
