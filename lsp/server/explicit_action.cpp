// "Make explicit": what the compiler infers of a declaration, in place of the declaration.
#include "lsp/server/deferred.h"
#include "lsp/server/handlers.h"

namespace ptl::lsp {

/// The error in an answer of the worker, as one line.
static std::string reasonOf(const json &result) {
  for (const json &diagnostic : result.value("diagnostics", json::array()))
    return diagnostic.value("message", "");
  return result.value("error", json::object()).value("message", "it does not compile");
}

/// Asks for the text of the stage `explicit` or `manual`; other actions are the engine's.
void resolveAnyCodeAction(Server &server, const json &params, const Reply &reply) {
  const json data = params.value("data", json::object());
  if (!data.contains("explicit"))
    return reply.result(resolveCodeAction(server.session, params));
  std::string uri = data.at("uri").get<std::string>();
  ide::File &file = server.session.fileOfUri(uri);
  auto isOld = [data](const ide::File &file) { return data.at("version") != file.version; };
  if (isOld(file))
    throw RequestError{kContentModified, "the text has changed"};
  PreviewKey key;
  key.path = file.path();
  key.entry = data.at("explicit").get<std::string>();
  key.stage = data.at("stage").get<std::string>();
  WorkerRequest request = entryRequest(server.session, file, key);
  auto onAnswer = [&server, path = key.path, data, params, isOld,
                   reply](const WorkerAnswer &answer) {
    if (!answer.ok())
      return reply.error({kRequestFailed, answer.error.value("message", "")});
    if (!answer.result.value("ok", false))
      return reply.error({kRequestFailed, reasonOf(answer.result)});
    // The text may have changed while the worker was busy.
    ide::File &now = server.session.fileStill(path);
    if (isOld(now))
      return reply.error({kContentModified, "the text has changed"});
    std::string text = answer.result.at("text").get<std::string>();
    while (text.ends_with("\n"))
      text.pop_back();
    ide::Range range{data.at("begin").get<uint32_t>(), data.at("end").get<uint32_t>()};
    json action = params;
    action["edit"] = server.session.workspaceEdit({{{&now, range}, text}});
    reply.result(std::move(action));
  };
  server.worker.ask("preview", request, "", {onAnswer, reply.onProblem()});
}

} // namespace ptl::lsp
