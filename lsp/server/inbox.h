// Messages from the client: from bytes to a queue of JSON objects.
#pragma once

#include "lsp/server/callback.h"
#include "lsp/server/framing.h"

#include <nlohmann/json.hpp>

#include <deque>
#include <set>
#include <string>
#include <string_view>

namespace ptl::lsp {

using json = nlohmann::json;

/// The waiting messages, in order; the messages of a batch follow each other. Cancellations are not
/// queued, because the request may be ahead of them in the queue.
class Inbox {
public:
  /// `refuse` is called for input that is not a message. `cancel` gets the ids of requests to
  /// cancel that are no longer in the queue.
  Inbox(Callback<const RequestError &> refuse, Callback<const json &> cancel)
      : refuse_(std::move(refuse)), cancel_(std::move(cancel)) {}

  void feed(std::string_view bytes);
  bool empty() const { return queue_.empty(); }
  /// The next message, which is an object.
  json take();
  /// Whether a request was cancelled while it waited. The id is forgotten, since a later request
  /// may use it again.
  bool takeCancelled(const json &id) { return cancelled_.erase(id.dump()) > 0; }

private:
  void receive(const std::string &text);
  void cancel(const json &id);

  Callback<const RequestError &> refuse_;
  Callback<const json &> cancel_;
  FrameReader frames_;
  std::deque<json> queue_;
  std::set<std::string> cancelled_; ///< ids, as text, of requests in the queue
};

} // namespace ptl::lsp
