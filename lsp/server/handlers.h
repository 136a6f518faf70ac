// The handlers of requests, declared from the table of methods. session.h describes their
// arguments.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS)                                                 \
  json HANDLER(Session &session, const json &params);
#include "lsp/server/methods.def"
#undef METHOD

/// The handler of a method of methods.def; null if it has none.
RequestHandler handlerOf(const std::string &method);

} // namespace ptl::lsp
