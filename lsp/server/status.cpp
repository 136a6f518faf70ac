// The state of the whole server, for `ptl/status`.
#include "lsp/server/deferred.h"

#include "frontend/base/process_memory.h"

namespace ptl::lsp {

void status(Server &server, const json &, const Reply &reply) {
  const FeasibilityQueue &feasibility = server.feasibility;
  json documents = json::array();
  for (const auto &[path, file] : server.session.workspace.files())
    documents.push_back({{"uri", Session::uri(path)},
                         {"open", file->isOpen},
                         {"lines", file->document.lineCount()},
                         {"chunks", file->document.places().size()}});
  reply.result({{"version", PTL_VERSION},
                {"memory", residentBytes()},
                {"worker", server.worker.status()},
                {"feasibility",
                 {{"pending", feasibility.pending()}, {"changed", feasibility.pendingChanges()}}},
                {"unpublished", server.publisher.pending()},
                {"held", server.session.typing.holding().size()},
                {"documents", std::move(documents)}});
}

} // namespace ptl::lsp
