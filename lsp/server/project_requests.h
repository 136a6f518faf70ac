// Requests that look into all files of the workspace.
#pragma once

#include "lsp/server/server.h"

namespace ptl::lsp {

/// Whether a request is one of them (project_methods.def).
bool readsProject(const std::string &method);

/// Answers a request when the files on disk are known. If the text of which it speaks has been edited
/// by then, that is no fault of the request, and the error is `ContentModified`.
void answerWithProject(Server &server, const Reply &reply, RequestHandler handler,
                       const json &params);

/// Whether two copies of a document have the same text, as far as that is known without comparing
/// them; false means that it is not known.
bool sameText(const ide::Document &a, const ide::Document &b);

} // namespace ptl::lsp
