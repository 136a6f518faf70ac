// Requests that look into all files of the workspace, and changes of these files on disk.
#include "lsp/server/server.h"

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

void Server::answerWithProject(const Reply &reply, RequestHandler handler, const json &params) {
  std::optional<std::string> uri = uriIn(params);
  std::optional<ide::Document> before;
  if (uri)
    before = session.fileOfUri(*uri).document;
  auto answer = [this, reply, handler, params, uri, before] {
    if (!reply.isOpen())
      return;
    reply.with([&] {
      if (before && !sameText(*before, session.fileStill(Session::pathOfUri(*uri)).document))
        throw RequestError{kContentModified, "the text was edited"};
      return handler(session, params);
    });
  };
  project_.whenKnown({answer, reply.onProblem()});
}

/// Takes the texts of files from disk.
void Server::readAgain(std::vector<std::string> paths, bool refreshes) {
  auto then = [this, paths, refreshes] {
    for (const std::string &path : paths)
      importedChanged(path);
    if (refreshes)
      refresh();
    wake();
  };
  project_.changed(paths, {then, reportProblem});
}

} // namespace ptl::lsp
