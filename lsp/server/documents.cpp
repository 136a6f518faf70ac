#include "lsp/server/documents.h"

#include "lsp/server/deferred.h"
#include "lsp/server/machine_files.h"
#include "lsp/server/notifications.h"

namespace ptl::lsp {

/// The text of a file has changed, in the editor or on disk. Files that import it may have other
/// diagnostics now.
static void textChanged(Server &server, const std::string &path) {
  ide::Workspace &workspace = server.session.workspace;
  ++server.session.edition;
  for (ide::File *other : workspace.openFiles())
    if (workspace.hasStale(*other))
      server.publisher.due(other->path());
  if (const ide::File *file = workspace.find(path)) {
    previewsChanged(server, *file);
    server.feasibility.edited(*file);
  }
}

/// The client has opened, edited or saved a file.
static void edited(Server &server, ide::File &file) {
  file.editedAt = uv_now(server.loop());
  // A request on which the compiler failed was about another text.
  std::erase_if(server.session.failures,
                [&](const CompilerFailure &failure) { return failure.path == file.path(); });
  server.publisher.due(file.path());
  for (const ide::File *imported : file.imports)
    server.watcher.watchFolderOf(imported->path());
  textChanged(server, file.path());
}

/// Takes the texts of files from disk. With `refreshes` the client is asked to ask for everything
/// again.
static void readAgain(Server &server, const std::vector<std::string> &paths, bool refreshes) {
  auto then = [&server, paths, refreshes] {
    for (const std::string &path : paths)
      textChanged(server, path);
    if (refreshes)
      server.publisher.allChanged();
    server.wake();
  };
  server.project.changed(paths, {then, reportProblem});
}

// ---- What the client says -----------------------------------------------------------------------

void didOpen(Server &server, const json &params) {
  const json &document = params.at("textDocument");
  std::string uri = document.at("uri").get<std::string>(),
              text = document.at("text").get<std::string>();
  if (IrDocuments::isIr(document.value("languageId", ""), uri))
    return server.irDocuments.open(uri, std::move(text));
  ide::Workspace &workspace = server.session.workspace;
  ide::File &file = workspace.open(Session::pathOfUri(uri), std::move(text),
                                   document.value("version", int64_t(0)));
  server.watcher.watchFolderOf(file.path());
  for (const auto &[known, any] : workspace.files())
    server.watcher.watchFolderOf(known);
  edited(server, file);
}

/// Applies one of `contentChanges`: a range and what replaces it, or the whole text.
static void applyChange(Session &session, ide::File &file, const json &change, bool isTyped) {
  ide::Range range{0, file.document.size()};
  if (auto where = change.find("range"); where != change.end() && where->is_object())
    range = session.range(file, *where);
  std::string text = change.at("text").get<std::string>();
  if (isTyped)
    session.typing.begin(file, range, text);
  session.workspace.edit(file, range, text);
  if (isTyped)
    session.typing.end(file, range, text);
}

void didChange(Server &server, const json &params) {
  Session &session = server.session;
  const json &document = params.at("textDocument"), &changes = params.at("contentChanges");
  std::string uri = document.at("uri").get<std::string>();
  if (server.irDocuments.contains(uri))
    return server.irDocuments.edit(uri, changes);
  ide::File &file = session.fileOfUri(uri);
  if (auto version = document.find("version"); version != document.end() && version->is_number())
    file.version = version->get<int64_t>();
  // Whoever types changes one place; renaming and formatting change many.
  bool isOne = changes.size() == 1 && !session.settings.errorsWhileTyping;
  bool isTyped = isOne && changes[0].value("range", json()).is_object();
  if (!isTyped)
    session.typing.forget();
  // What was kept back because of another place is said now.
  if (!session.typing.isAt(file))
    for (const std::string &path : session.typing.holding())
      server.publisher.due(path);
  for (const json &change : changes)
    applyChange(session, file, change, isTyped);
  if (isTyped)
    server.publisher.typed();
  edited(server, file);
}

void didClose(Server &server, const json &params) {
  if (server.irDocuments.close(params.at("textDocument").at("uri").get<std::string>()))
    return;
  ide::File &file = server.session.file(params);
  server.session.workspace.close(file.path());
  server.session.typing.closed(file.path());
  server.publisher.closed(file.path());
  textChanged(server, file.path());
}

void didSave(Server &server, const json &params) {
  if (server.irDocuments.isAsked(params))
    return;
  ide::File &file = server.session.file(params);
  server.session.workspace.fileChanged(file.path());
  server.session.typing.forget();
  edited(server, file);
}

// ---- What happens on disk -----------------------------------------------------------------------

void didChangeWatchedFiles(Server &server, const json &params) {
  std::vector<std::string> paths;
  for (const json &change : params.at("changes")) {
    std::string path = Session::pathOfUri(change.at("uri").get<std::string>());
    if (isMachineFile(server.session, path))
      machineFilesChanged(server);
    else if (path.ends_with(".ptl"))
      paths.push_back(std::move(path));
  }
  readAgain(server, paths, true);
}

void fileChanged(Server &server, const std::string &path) {
  if (isMachineFile(server.session, path))
    machineFilesChanged(server);
  else if (path.ends_with(".ptl"))
    readAgain(server, {path}, false);
}

} // namespace ptl::lsp
