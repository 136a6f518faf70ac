// Handlers of requests that are answered later, declared from their table. Previews are virtual
// documents `ptl-ir:/FILE.ENTRY.STAGE.EXT?uri=…&entry=…&stage=…`; see docs/editor-requests.md.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS)                                                 \
  void HANDLER(Server &server, const json &params, const Reply &reply);
#include "lsp/server/deferred_methods.def"
#undef METHOD

/// Fills `Previews::stages`; if that fails, `then` fails with the reason.
void askStages(Server &server, Callback<> then);
/// The name of the declaration at a byte; for a test its text.
std::string entryAt(const ide::File &file, uint32_t offset);
/// Whether `file` is `other`, or imports it, directly or not.
bool readsFile(const ide::File &file, const ide::File &other);
/// Recomputes the open previews of a file, and those of files that import it.
void previewsChanged(Server &server, const ide::File &file);

} // namespace ptl::lsp
