// The handlers of the client's notifications, declared from their table.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Handles one notification, which has no answer: errors are logged unless they are the client's.
using NotificationHandler = void (*)(Server &server, const json &params);

#define METHOD(NAME, HANDLER) void HANDLER(Server &server, const json &params);
#include "lsp/server/notification_methods.def"
#undef METHOD

} // namespace ptl::lsp
