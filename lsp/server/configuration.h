// The client's settings and the folders of its workspace, initially and when they change.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Applies settings `ptl.…`, or an object with the member `ptl`; anything that is not an object is
/// ignored. Results that depend on changed settings are recomputed.
void setSettings(Server &server, const json &given);
/// Applies the folders that `initialize` names.
void setFolders(Session &session, const json &params);

} // namespace ptl::lsp
