// Asks the client, if it supports that, to request answers again that it shows and that have
// changed although the text has not.
#pragma once

namespace ptl::lsp {

class Server;

void refreshLenses(Server &server);
void refreshHints(Server &server);
void refreshTokens(Server &server);
void refreshDiagnostics(Server &server);

} // namespace ptl::lsp
