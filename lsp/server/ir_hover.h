// What a place in dumped IR is.
#pragma once

#include "lsp/server/deferred.h"

namespace ptl::lsp {

/// Answers a hover in an open file of IR.
void irDocumentHover(Server &server, const std::string &uri, const json &params,
                     const Reply &reply);

} // namespace ptl::lsp
