// The handlers of the client's notifications, declared from their table.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Handles one notification, to which there is no answer: what is thrown is logged unless it is the
/// client's fault.
using NotificationHandler = void (*)(Server &server, const json &params);

#define METHOD(NAME, HANDLER) void HANDLER(Server &server, const json &params);
#include "lsp/server/notification_methods.def"
#undef METHOD

} // namespace ptl::lsp
