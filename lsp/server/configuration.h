// The client's settings and the folders of its workspace, as they are at first and when they change.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Takes over settings `ptl.…`, or an object with the member `ptl`; what is no object changes
/// nothing. What depends on a setting that has changed is done again.
void setSettings(Server &server, const json &given);
/// Takes over the folders that `initialize` names.
void setFolders(Session &session, const json &params);

} // namespace ptl::lsp
