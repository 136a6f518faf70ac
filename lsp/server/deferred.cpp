#include "lsp/server/deferred.h"

#include "lsp/server/handlers.h"

#include <algorithm>

namespace ptl::lsp {

static RequestError asRequestError(const json &error) {
  std::string code = error.value("code", "");
  int number = code == "cancelled" || code == "superseded" ? kContentModified : kRequestFailed;
  return {number, error.value("message", code)};
}

// ---- Previews -----------------------------------------------------------------------------------

std::string entryAt(const ide::File &file, uint32_t offset) {
  const ide::Place &place = file.document.places()[file.document.placeAt(offset)];
  const Tree &tree = *place.chunk->tree;
  std::string name;
  for (NodeId item : tree.children(tree.root())) {
    if (!isDeclaration(tree.kind(item)) || tree.span(item).begin > offset - place.begin)
      continue;
    NodeId child = tree.child(item, 0);
    name = child == kNoNode ? "" : std::string(tree.text(child));
  }
  if (name.size() >= 2 && name.front() == '"')
    name = name.substr(1, name.size() - 2);
  return name;
}

/// What the client gets now, and what is kept of it.
static const PreviewAnswer &settle(Server &server, Preview &preview, const json &result) {
  ide::File &file = server.session.fileOfUri(Session::uri(preview.key.path));
  PreviewAnswer answer = previewAnswer(server.session, file, preview.key, result);
  if (result.value("ok", false)) {
    preview.lastGood = answer;
  } else if (!preview.lastGood.isNone()) {
    // The last good text stays visible, marked stale, with what is wrong now.
    PreviewAnswer kept = preview.lastGood;
    kept.head["stale"] = true;
    kept.head["diagnostics"] = answer.head["diagnostics"];
    kept.head.erase("error");
    if (answer.head.contains("error"))
      kept.head["error"] = answer.head["error"];
    kept.head["version"] = answer.head["version"];
    answer = std::move(kept);
  }
  if (!preview.uri.empty())
    answer.head["uri"] = preview.uri;
  preview.answer = std::move(answer);
  return preview.answer;
}

static void askPreview(Server &server, const std::string &uri, const PreviewKey &key,
                       const std::string &topic,
                       std::function<void(const PreviewAnswer &)> onAnswer,
                       std::function<void(const RequestError &)> onError) {
  ide::File &file = server.session.fileOfUri(Session::uri(key.path));
  server.previews.get(uri, key);
  json request = entryRequest(server.session, file, key);
  server.worker.ask(
      "preview", request, topic,
      [&server, uri, key, request, onAnswer, onError](const WorkerAnswer &answer) {
        Preview &preview = server.previews.get(uri, key);
        if (answer.ok())
          return onAnswer(settle(server, preview, answer.result));
        std::string code = answer.error.value("code", "");
        if (code != "crash" && code != "timeout")
          return onError(asRequestError(answer.error));
        std::string message = answer.error.value("message", "");
        server.compilerFailed(key.path, key.entry, message, request);
        json failed = {
            {"ok", false},
            {"error", code},
            {"diagnostics", {{{"message", message}, {"code", "E0808"}, {"severity", "error"}}}}};
        onAnswer(settle(server, preview, failed));
      });
}

static std::string extensionOf(const Server &server, const std::string &stage) {
  size_t at = std::min(stage.find('@'), stage.size());
  std::string chip = at < stage.size() ? "." + stage.substr(at + 1) : "";
  for (const json &each : server.previews.stages)
    if (each.value("id", "") == stage.substr(0, at))
      return chip + each.value("extension", ".txt");
  return chip + ".txt";
}

void preview(Server &server, const json &params, const Reply &reply) {
  ide::File &file = server.session.file(params);
  PreviewKey key;
  key.path = file.path();
  key.stage = params.value("stage", server.session.settings.previewStage);
  key.bindings = params.value("bindings", json::object());
  key.entry = params.value("entry", "");
  if (key.entry.empty() && params.contains("position"))
    key.entry = entryAt(file, server.session.offsetIn(file, params));
  if (key.entry.empty())
    throw RequestError{kInvalidParams, "there is no declaration at this position"};
  // The name of a preview ends like a file of its language, which the table of stages tells.
  auto ask = [&server, key, reply]() mutable {
    key.stage = wholeStage(server.previews, server.session.settings, key.stage);
    askPreview(
        server, key.uri(extensionOf(server, key.stage)), key, "",
        [reply](const PreviewAnswer &answer) { reply.result(answer.raw()); },
        [reply](const RequestError &error) { reply.error(error); });
  };
  if (!server.previews.stages.is_null())
    return ask();
  askStages(server, [ask](const RequestError *) mutable { ask(); });
}

void virtualDocument(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("uri").get<std::string>();
  PreviewKey key = PreviewKey::ofUri(uri);
  ide::File &file = server.session.fileOfUri(Session::uri(key.path));
  Preview &known = server.previews.get(uri, key);
  if (!known.answer.isNone() && known.answer.head.value("version", int64_t(-1)) == file.version)
    return reply.result(known.answer.raw());
  askPreview(
      server, uri, key, "", [reply](const PreviewAnswer &answer) { reply.result(answer.raw()); },
      [reply](const RequestError &error) { reply.error(error); });
}

void textDocumentContent(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("uri").get<std::string>();
  askPreview(
      server, uri, PreviewKey::ofUri(uri), "",
      [reply](const PreviewAnswer &answer) { reply.result({{"text", answer.body->text}}); },
      [reply](const RequestError &error) { reply.error(error); });
}

void openPreview(Server &server, const json &params) {
  std::string uri = params.at("uri").get<std::string>();
  server.previews.get(uri, PreviewKey::ofUri(uri)).isOpen = true;
}

void closePreview(Server &server, const json &params) {
  auto found = server.previews.byUri.find(params.at("uri").get<std::string>());
  if (found != server.previews.byUri.end())
    found->second.isOpen = false;
}

bool readsFile(const ide::File &file, const ide::File &other) {
  return &file == &other ||
         std::any_of(file.imports.begin(), file.imports.end(),
                     [&](const ide::File *each) { return readsFile(*each, other); });
}

void previewsChanged(Server &server, const ide::File &file) {
  for (auto &[uri, preview] : server.previews.byUri) {
    ide::File *source = preview.isOpen ? server.session.workspace.find(preview.key.path) : nullptr;
    if (!source || !readsFile(*source, file))
      continue;
    auto onAnswer = [&server, uri = uri, before = preview.answer](const PreviewAnswer &answer) {
      if (!answer.looksLike(before))
        server.notify("ptl/virtualDocumentChanged", {{"uri", uri}});
    };
    askPreview(server, uri, preview.key, "refresh " + uri, onAnswer, [](const RequestError &) {});
  }
}

void askStages(Server &server, std::function<void(const RequestError *)> then) {
  server.worker.ask("stages", json::object(), "", [&server, then](const WorkerAnswer &answer) {
    if (!answer.ok()) {
      RequestError error = asRequestError(answer.error);
      return then(&error);
    }
    server.previews.stages = json::array();
    for (const json &stage : answer.result.value("stages", json::array()))
      server.previews.stages.push_back(
          {{"id", stage.value("name", "")},
           {"title", stage.value("title", "")},
           {"languageId", stage.value("languageId", "")},
           {"extension", stage.value("extension", "")},
           {"machine", stage.value("machine", "cpu")},
           {"summary", stage.value("summary", stage.value("title", ""))}});
    server.previews.usualTarget = answer.result.value("usualTarget", "");
    then(nullptr);
  });
}

void stages(Server &server, const json &, const Reply &reply) {
  auto answer = [&server, reply](const RequestError *error) {
    error ? reply.error(*error) : reply.result(stagesFor(server.previews, server.session.settings));
  };
  if (server.previews.stages.is_null())
    return askStages(server, answer);
  answer(nullptr);
}

void documentText(Server &server, const json &params, const Reply &reply) {
  const ide::File &file = server.session.file(params);
  reply.result({{"version", file.version}, {"text", file.document.text()}});
}

void status(Server &server, const json &, const Reply &reply) { reply.result(server.status()); }

// ---- What the client is to ask for again -------------------------------------------------------

void Server::refreshLenses() {
  if (session.client.refreshesLenses)
    request("workspace/codeLens/refresh", nullptr);
}

void Server::refreshHints() {
  if (session.client.refreshesHints)
    request("workspace/inlayHint/refresh", nullptr);
}

} // namespace ptl::lsp
