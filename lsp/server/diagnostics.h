// Diagnostics as the protocol has them, and the requests that ask for them.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// All diagnostics of a file, which is checked as far as it is not.
json diagnosticsOf(Session &session, ide::File &file);

} // namespace ptl::lsp
