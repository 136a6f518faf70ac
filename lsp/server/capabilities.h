// Negotiates capabilities and settings of client and server.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// Reads `capabilities` of `initialize`.
ClientAbilities abilitiesOf(const json &capabilities);
/// The abilities of the server, which are the rows of the method tables.
json serverCapabilities(const ClientAbilities &client);
/// Applies the client's `settings` (`ptl.…`); members of other types than expected are ignored. Returns
/// what is to be said of values that are ignored.
std::vector<std::string> applySettings(const json &settings, Settings &own, CheckOptions &options);

} // namespace ptl::lsp
