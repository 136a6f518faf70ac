#include "lsp/server/publisher.h"

#include "lsp/server/diagnostics.h"
#include "lsp/server/later.h"
#include "lsp/server/placed_text.h"
#include "lsp/server/refresh.h"
#include "lsp/server/server.h"

namespace ptl::lsp {

void Publisher::due(const std::string &path) {
  due_.insert(path);
  server_.wake();
}

void Publisher::changed(const std::string &path) {
  refreshDiagnostics(server_);
  due(path);
}

void Publisher::allChanged() {
  ++server_.session.edition;
  for (const ide::File *file : server_.session.workspace.openFiles())
    due_.insert(file->path());
  refreshes_ = true;
  server_.wake();
}

void Publisher::closed(const std::string &path) {
  due_.erase(path);
  if (published_.erase(path) > 0)
    server_.notify("textDocument/publishDiagnostics",
                   {{"uri", Session::uri(path)}, {"diagnostics", json::array()}});
}

bool Publisher::step() {
  if (due_.empty()) {
    if (std::exchange(refreshes_, false)) {
      refreshHints(server_);
      refreshLenses(server_);
      refreshTokens(server_);
      refreshDiagnostics(server_);
    }
    return false;
  }
  // A file whose check fails is not due any more; it would fail again at once.
  auto first = due_.extract(due_.begin());
  ide::Workspace &workspace = server_.session.workspace;
  ide::File *file = workspace.find(first.value());
  if (!file || !file->isOpen)
    return true;
  if (workspace.checkNext(*file))
    due_.insert(std::move(first));
  else
    publish(*file);
  return true;
}

void Publisher::publish(ide::File &file) {
  if (server_.session.client.pullsDiagnostics)
    return;
  published_.insert(file.path());
  std::string begin =
      R"({"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":)" +
      jsonText(Session::uri(file.path())) + ",\"version\":" + std::to_string(file.version) +
      ",\"diagnostics\":";
  server_.connection.sendAround(begin, diagnosticsOf(server_.session, file), "}}");
}

void Publisher::typed() {
  typedAt_ = uv_now(server_.loop());
  restLater(Typing::kRest);
}

void Publisher::restLater(uint64_t milliseconds) {
  // A timer that runs already sees this edit, too.
  if (std::exchange(isRestDue_, true))
    return;
  auto onTime = [this] {
    isRestDue_ = false;
    uint64_t now = uv_now(server_.loop());
    if (now < typedAt_ + Typing::kRest)
      restLater(typedAt_ + Typing::kRest - now);
    else
      sayHeld();
  };
  later(server_.loop(), milliseconds, {onTime, reportProblem});
}

void Publisher::sayHeld() {
  Typing &typing = server_.session.typing;
  std::unordered_set<std::string> held = typing.holding();
  typing.rest();
  for (const std::string &path : held)
    changed(path);
}

} // namespace ptl::lsp
