// Requests that need all files of the workspace.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Whether a request is one of them (project_methods.def).
bool readsProject(const std::string &method);

/// Answers a request once the files on disk are known. If the text that it concerns has been edited
/// by then, that is not the client's error, and the answer is `ContentModified`.
void answerWithProject(Server &server, const Reply &reply, RequestHandler handler,
                       const json &params);

/// Whether two copies of a document certainly have the same text, without comparing it; false means
/// that it is unknown.
bool sameText(const ide::Document &a, const ide::Document &b);

} // namespace ptl::lsp
