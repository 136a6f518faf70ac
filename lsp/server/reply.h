// The answer to one request, given by whoever comes to know it.
#pragma once

#include "lsp/server/callback.h"
#include "lsp/server/connection.h"

#include <map>
#include <memory>
#include <string>

namespace ptl::lsp {

/// The requests that are being answered, by their ids as text: what to do when they are cancelled.
using OpenRequests = std::map<std::string, Callback<>>;

/// Completes a request once, with `result(...)` or `error(...)`; later calls do nothing. Copies are
/// the same. When the last is gone, the request has its answer: whoever drops one unanswered has
/// failed, and the client is told.
class Reply {
public:
  Reply(const std::shared_ptr<OpenRequests> &open, Connection &connection, json id);
  void result(json value) const;
  void error(const RequestError &error) const;
  /// False when it was answered, or cancelled.
  bool isOpen() const;
  /// Called when the client takes the request back.
  void onCancel(std::function<void()> action) const;
  /// Answers with what `answer` returns or throws.
  void with(const std::function<json()> &answer) const;
  /// Who is told when something that this waits for fails: the client.
  OnProblem onProblem() const {
    return [reply = *this](const RequestError &problem) { reply.error(problem); };
  }

private:
  struct Owed;
  std::shared_ptr<Owed> owed_;
};

/// An answer that is an error.
json errorMessage(const json &id, const RequestError &error);

} // namespace ptl::lsp
