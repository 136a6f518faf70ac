#include "lsp/server/reply.h"

namespace ptl::lsp {

json errorMessage(const json &id, const RequestError &error) {
  return ptl::errorMessage(id, error.code, error.message);
}

/// An answer that is still due. When it is destroyed without an answer, the request fails.
struct Reply::Owed {
  Connection &connection;
  std::weak_ptr<OpenRequests> open; ///< gone with the server
  json id;
  std::string key;

  bool isOpen() const {
    auto requests = open.lock();
    return requests && requests->contains(key);
  }
  void complete(json answer) {
    if (auto requests = open.lock(); requests && requests->erase(key) > 0)
      connection.send(answer);
    open.reset();
  }
  ~Owed() {
    if (isOpen())
      guarded([&] { complete(errorMessage(id, {kInternalError, "no handler has answered"})); });
  }
};

Reply::Reply(const std::shared_ptr<OpenRequests> &open, Connection &connection, json id) {
  std::string key = id.dump();
  owed_ = std::make_shared<Owed>(connection, open, std::move(id), std::move(key));
}

void Reply::result(json value) const {
  owed_->complete({{"jsonrpc", "2.0"}, {"id", owed_->id}, {"result", std::move(value)}});
}

void Reply::error(const RequestError &error) const {
  owed_->complete(errorMessage(owed_->id, error));
}

bool Reply::isOpen() const { return owed_->isOpen(); }

void Reply::onCancel(std::function<void()> action) const {
  if (auto requests = owed_->open.lock(); requests && isOpen())
    (*requests)[owed_->key] = Callback<>(std::move(action), reportProblem);
}

void Reply::with(const std::function<json()> &answer) const {
  try {
    result(answer());
  } catch (...) {
    error(problemOfParams());
  }
}

} // namespace ptl::lsp
