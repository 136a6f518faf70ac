// The answer to one request, which may be given later and from anywhere.
#pragma once

#include "lsp/server/callback.h"
#include "lsp/server/connection.h"

#include <map>
#include <memory>
#include <string>

namespace ptl::lsp {

/// The requests in progress, by their ids as text, with the action on cancellation.
using OpenRequests = std::map<std::string, Callback<>>;

/// Completes a request once, with `result(...)` or `error(...)`; later calls do nothing. Copies
/// share the request. If the last copy is destroyed without an answer, that is an error, and the
/// client is told so.
class Reply {
public:
  Reply(const std::shared_ptr<OpenRequests> &open, Connection &connection, json id);
  void result(json value) const;
  void error(const RequestError &error) const;
  /// False if it has been answered or cancelled.
  bool isOpen() const;
  /// `action` is called when the client cancels the request.
  void onCancel(std::function<void()> action) const;
  /// Answers with what `answer` returns or throws.
  void with(const std::function<json()> &answer) const;
  /// Reports errors of code that must answer this request to the client.
  OnProblem onProblem() const {
    return [reply = *this](const RequestError &problem) { reply.error(problem); };
  }

private:
  struct Owed;
  std::shared_ptr<Owed> owed_;
};

/// An error response.
json errorMessage(const json &id, const RequestError &error);

} // namespace ptl::lsp
