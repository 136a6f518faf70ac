#include "lsp/server/refresh.h"

#include "lsp/server/server.h"

namespace ptl::lsp {

void refreshLenses(Server &server) {
  if (server.session.client.refreshesLenses)
    server.request("workspace/codeLens/refresh", nullptr);
}

void refreshHints(Server &server) {
  if (server.session.client.refreshesHints)
    server.request("workspace/inlayHint/refresh", nullptr);
}

void refreshTokens(Server &server) {
  if (server.session.client.refreshesTokens)
    server.request("workspace/semanticTokens/refresh", nullptr);
}

void refreshDiagnostics(Server &server) {
  // A client that does not ask for them gets them by itself.
  if (server.session.client.pullsDiagnostics && server.session.client.refreshesDiagnostics)
    server.request("workspace/diagnostic/refresh", nullptr);
}

} // namespace ptl::lsp
