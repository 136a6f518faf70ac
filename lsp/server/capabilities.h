// What client and server tell each other before they work: abilities and settings.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// Reads `capabilities` of `initialize`.
ClientAbilities abilitiesOf(const json &capabilities);
/// What the server can do: the rows of the method tables, no more.
json serverCapabilities(const ClientAbilities &client);
/// Takes over what `settings` (`ptl.…`) says; members of other types than expected are ignored.
void applySettings(const json &settings, Settings &own, CheckOptions &options);

} // namespace ptl::lsp
