// Formatting. A long text is formatted beside the loop.
#include "lsp/ide/formatting.h"
#include "lsp/server/deferred.h"
#include "lsp/server/handlers.h"
#include "lsp/server/project_requests.h"

namespace ptl::lsp {

static json editsJson(const ide::Document &document, const std::vector<ide::Edit> &edits,
                      Encoding encoding) {
  json result = json::array();
  for (const ide::Edit &edit : edits)
    result.push_back({{"range", rangeIn(document, edit.range, encoding)}, {"newText", edit.text}});
  return result;
}

/// The edits for a request to format; without a range for the whole document.
static json formatted(const ide::Document &document, std::optional<ide::Range> range,
                      Encoding encoding) {
  return editsJson(document,
                   range ? ide::formatRange(document, *range) : ide::formatDocument(document),
                   encoding);
}

json formatting(Session &session, const json &params) {
  return formatted(session.file(params).document, std::nullopt, session.client.encoding);
}

json rangeFormatting(Session &session, const json &params) {
  ide::File &file = session.file(params);
  return formatted(file.document, session.range(file, params.at("range")), session.client.encoding);
}

json onTypeFormatting(Session &session, const json &params) {
  ide::File &file = session.file(params);
  std::string typed = params.at("ch").get<std::string>();
  if (typed.empty())
    return json::array();
  return editsJson(file.document,
                   ide::formatOnType(file.document, session.offsetIn(file, params), typed.front()),
                   session.client.encoding);
}

/// `formatting` and `rangeFormatting`. What is short is answered at once: the way to another thread
/// would cost more than it saves.
static void formatAside(Server &server, const ide::File &file, std::optional<ide::Range> range,
                        const Reply &reply) {
  constexpr uint32_t longText = 16384; // bytes: more than a millisecond
  Encoding encoding = server.session.client.encoding;
  if ((range ? range->end - range->begin : file.document.size()) < longText)
    return reply.result(formatted(file.document, range, encoding));
  auto work = [document = file.document, range, encoding](const Background::Stop &) {
    return formatted(document, range, encoding);
  };
  auto then = [&server, reply, path = file.path(), document = file.document](json edits) {
    // Edits of another text would tear it apart.
    const ide::File *now = server.session.workspace.find(path);
    if (!now || now->isMissing || !sameText(document, now->document))
      return reply.error({kContentModified, "the text was edited"});
    reply.result(std::move(edits));
  };
  auto handle = server.background.run<json>(work, {then, reply.onProblem()});
  reply.onCancel([handle]() mutable { handle.cancel(); });
}

void formattingAside(Server &server, const json &params, const Reply &reply) {
  if (server.irDocuments.contains(params.at("textDocument").at("uri").get<std::string>()))
    return reply.result(nullptr);
  formatAside(server, server.session.file(params), std::nullopt, reply);
}

void rangeFormattingAside(Server &server, const json &params, const Reply &reply) {
  if (server.irDocuments.contains(params.at("textDocument").at("uri").get<std::string>()))
    return reply.result(nullptr);
  ide::File &file = server.session.file(params);
  formatAside(server, file, server.session.range(file, params.at("range")), reply);
}

} // namespace ptl::lsp
