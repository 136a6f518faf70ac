// Messages between the server and the worker: JSON after a `Content-Length` header, as in LSP.
#pragma once

#include "common/json_fields.h"

#include <deque>
#include <optional>
#include <string>

namespace ptl::worker {

using Json = nlohmann::json;

class Channel {
public:
  Channel(int in, int out) : in_(in), out_(out) {}

  /// Waits for the next message. Returns nothing at the end of the input. After a malformed frame,
  /// or a message that is not a JSON object, the result is a discarded value, and reading continues
  /// at the next header.
  std::optional<Json> read();
  /// Reads the bytes that have arrived, without waiting.
  void poll();
  /// True, once, when a message `{"cancel": id}` for the request has arrived.
  bool wasCancelled(const Json &id);
  void write(const Json &message);
  int out() const { return out_; }

private:
  bool fill(bool wait);
  bool takeFrame();

  int in_, out_;
  bool ended_ = false;
  std::string buffer_;
  std::deque<Json> messages_;
};

} // namespace ptl::worker
