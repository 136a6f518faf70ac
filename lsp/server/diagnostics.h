// Converts diagnostics to the protocol, and answers the requests for them.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// All present diagnostics of a file, as a JSON array. Parts that have not been checked are checked
/// first.
std::string diagnosticsOf(Session &session, ide::File &file);

} // namespace ptl::lsp
