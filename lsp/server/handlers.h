// The handlers of requests, declared from the table of methods. See session.h for what they get.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

#define METHOD(NAME, HANDLER, CAPABILITY, OPTIONS)                                                 \
  json HANDLER(Session &session, const json &params);
#include "lsp/server/methods.def"
#undef METHOD

} // namespace ptl::lsp
