#include "lsp/server/project_requests.h"

#include <algorithm>

namespace ptl::lsp {

bool readsProject(const std::string &method) {
  static const std::set<std::string, std::less<>> methods = {
#define PROJECT_METHOD(NAME) NAME,
#include "lsp/server/project_methods.def"
  };
  return methods.contains(method);
}

bool sameText(const ide::Document &a, const ide::Document &b) {
  return std::equal(a.places().begin(), a.places().end(), b.places().begin(), b.places().end(),
                    [](const ide::Place &x, const ide::Place &y) { return x.chunk == y.chunk; });
}

/// The document whose positions the parameters of a request speak of.
static std::optional<std::string> uriIn(const json &params) {
  auto textOf = [](const json &object, const char *key) -> std::optional<std::string> {
    auto found = object.is_object() ? object.find(key) : object.end();
    return found == object.end() || !found->is_string() ? std::nullopt
                                                        : std::optional<std::string>(*found);
  };
  for (const char *member : {"textDocument", "item"})
    if (auto found = params.find(member); found != params.end())
      if (auto uri = textOf(*found, "uri"))
        return uri;
  return textOf(params, "data");
}

void answerWithProject(Server &server, const Reply &reply, RequestHandler handler,
                       const json &params) {
  std::optional<std::string> uri = uriIn(params);
  std::optional<ide::Document> before;
  if (uri)
    before = server.session.fileOfUri(*uri).document;
  auto answer = [&session = server.session, reply, handler, params, uri, before] {
    if (!reply.isOpen())
      return;
    reply.with([&] {
      if (before && !sameText(*before, session.fileStill(Session::pathOfUri(*uri)).document))
        throw RequestError{kContentModified, "the text was edited"};
      return handler(session, params);
    });
  };
  server.project.whenKnown({answer, reply.onProblem()});
}

} // namespace ptl::lsp
