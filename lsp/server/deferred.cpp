#include "lsp/server/deferred.h"
#include "frontend/syntax/kinds.h"

#include "lsp/server/compiler_failed.h"
#include "lsp/server/handlers.h"
#include "lsp/server/notifications.h"

#include <algorithm>

namespace ptl::lsp {

static RequestError asRequestError(const json &error) {
  std::string code = error.value("code", "");
  // Clients do not show this code to the user.
  int number = code == "cancelled" || code == "superseded" ? kContentModified : kRequestFailed;
  return {number, error.value("message", code)};
}

// ---- Previews -----------------------------------------------------------------------------------

std::string entryAt(const ide::File &file, uint32_t offset) {
  const ide::Place &place = file.document.places()[file.document.placeAt(offset)];
  const Tree &tree = *place.chunk->tree;
  std::string name;
  for (NodeId item : tree.children(tree.root())) {
    // The last declaration that begins before the position contains it.
    if (!isDeclaration(tree.kind(item)) || tree.span(item).begin > offset - place.begin)
      continue;
    NodeId child = tree.child(item, 0);
    name = child == kNoNode ? "" : std::string(tree.text(child));
  }
  // A test is named by a string, whose quotes are not part of the name.
  if (name.size() >= 2 && name.front() == '"')
    name = name.substr(1, name.size() - 2);
  return name;
}

/// Turns a result into the answer that the client gets now, and keeps it for later.
static const PreviewAnswer &settle(Server &server, Preview &preview, const json &result) {
  ide::File &file = server.session.fileStill(preview.key.path);
  PreviewAnswer answer = previewAnswer(server.session, file, preview.key, result);
  // A good answer is kept to be shown when a later one fails.
  if (result.value("ok", false)) {
    preview.lastGood = answer;
  } else if (!preview.lastGood.isNone()) {
    // The last good text stays visible, marked stale, together with the present errors.
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
                       const std::string &topic, Callback<const PreviewAnswer &> onAnswer) {
  ide::File &file = server.session.fileOfUri(Session::uri(key.path));
  server.previews.get(uri, key);
  WorkerRequest request = entryRequest(server.session, file, key);
  auto onReply = [&server, uri, key, request, onAnswer](const WorkerAnswer &answer) {
    // The preview may have been replaced meanwhile, so it is looked up again.
    Preview &preview = server.previews.get(uri, key);
    if (answer.ok())
      return onAnswer(settle(server, preview, answer.result));
    std::string code = answer.error.value("code", "");
    // Other failures are those of the request, not of the program.
    if (code != "crash" && code != "timeout")
      return onAnswer.fail(asRequestError(answer.error));
    std::string message = answer.error.value("message", "");
    // A crash of the worker is reported once and shown in the preview.
    compilerFailed(server, key.path, key.entry, message, request.whole());
    json failed = {
        {"ok", false},
        {"error", code},
        {"diagnostics", {{{"message", message}, {"code", "E0808"}, {"severity", "error"}}}}};
    onAnswer(settle(server, preview, failed));
  };
  auto onProblem = [onAnswer](const RequestError &problem) { onAnswer.fail(problem); };
  server.worker.ask("preview", request, topic, {onReply, onProblem});
}

/// Answers with the whole preview.
static Callback<const PreviewAnswer &> answerWithPreview(const Reply &reply) {
  return {[reply](const PreviewAnswer &answer) { reply.result(answer.raw()); }, reply.onProblem()};
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
  // Without a name the declaration at the position is meant.
  if (key.entry.empty() && params.contains("position"))
    key.entry = entryAt(file, server.session.offsetIn(file, params));
  if (key.entry.empty())
    throw RequestError{kInvalidParams, "there is no declaration at this position"};
  // The name of a preview has the extension of its language, which is in the table of stages, so
  // that table is needed first.
  auto ask = [&server, asked = key, reply] {
    // The key is copied because the function may run later.
    PreviewKey key = asked;
    key.stage = wholeStage(server.previews, server.session.settings, key.stage);
    askPreview(server, key.uri(extensionOf(server, key.stage)), key, "", answerWithPreview(reply));
  };
  if (!server.previews.stages.is_null())
    return ask();
  // Without the table the preview is requested all the same: its answer says what is wrong.
  auto onProblem = [ask, reply](const RequestError &) { guarded(ask, reply.onProblem()); };
  askStages(server, {ask, onProblem});
}

void virtualDocument(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("uri").get<std::string>();
  PreviewKey key = PreviewKey::ofUri(uri);
  ide::File &file = server.session.fileOfUri(Session::uri(key.path));
  Preview &known = server.previews.get(uri, key);
  // An answer for the same version is given without another request.
  if (!known.answer.isNone() && known.answer.head.value("version", int64_t(-1)) == file.version)
    return reply.result(known.answer.raw());
  askPreview(server, uri, key, "", answerWithPreview(reply));
}

void textDocumentContent(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("uri").get<std::string>();
  auto onAnswer = [reply](const PreviewAnswer &answer) {
    reply.result({{"text", answer.body->text}});
  };
  askPreview(server, uri, PreviewKey::ofUri(uri), "", {onAnswer, reply.onProblem()});
}

/// Notes that the client shows a preview: it is computed again after edits, and the client is
/// notified if it has changed.
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
    // Only previews that somebody looks at are computed again.
    ide::File *source = preview.isOpen ? server.session.workspace.find(preview.key.path) : nullptr;
    if (!source || source->isMissing || !readsFile(*source, file))
      continue;
    auto onAnswer = [&server, uri = uri, before = preview.answer](const PreviewAnswer &answer) {
      // If the text looks the same, the client need not load it again.
      if (!answer.looksLike(before))
        server.notify("ptl/virtualDocumentChanged", {{"uri", uri}});
    };
    // Nobody has asked for it, so a preview that fails stays as it is. A later refresh of the same
    // preview replaces this one.
    askPreview(server, uri, preview.key, "refresh " + uri, {onAnswer, [](const RequestError &) {}});
  }
}

void askStages(Server &server, Callback<> then) {
  auto onAnswer = [&server, then](const WorkerAnswer &answer) {
    if (!answer.ok())
      return then.fail(asRequestError(answer.error));
    json stages = json::array();
    for (const json &stage : answer.result.value("stages", json::array()))
      stages.push_back({{"id", stage.value("name", "")},
                        {"title", stage.value("title", "")},
                        {"languageId", stage.value("languageId", "")},
                        {"extension", stage.value("extension", "")},
                        {"machine", stage.value("machine", "cpu")},
                        {"summary", stage.value("summary", stage.value("title", ""))}});
    server.previews.usualTarget = answer.result.value("usualTarget", "");
    server.previews.stages = std::move(stages);
    then();
  };
  auto onProblem = [then](const RequestError &problem) { then.fail(problem); };
  server.worker.ask("stages", {}, "", {onAnswer, onProblem});
}

void stages(Server &server, const json &, const Reply &reply) {
  auto answer = [&server, reply] {
    reply.result(stagesFor(server.previews, server.session.settings));
  };
  if (server.previews.stages.is_null())
    return askStages(server, {answer, reply.onProblem()});
  answer();
}

void documentText(Server &server, const json &params, const Reply &reply) {
  const ide::File &file = server.session.file(params);
  reply.result({{"version", file.version}, {"text", file.document.text()}});
}

} // namespace ptl::lsp
