// Messages between the server and the worker: JSON after a `Content-Length` header, as in LSP.
#pragma once

#include <nlohmann/json.hpp>

#include <deque>
#include <optional>
#include <string>

namespace ptl::worker {

using Json = nlohmann::json;

/// The member as text, number or boolean; the default if it is missing or has another type.
std::string textOf(const Json &object, const char *key, const std::string &otherwise = "");
int64_t numberOf(const Json &object, const char *key, int64_t otherwise);
bool truthOf(const Json &object, const char *key, bool otherwise);
/// The member if it is an object, otherwise an empty object.
const Json &objectOf(const Json &object, const char *key);

/// The value as one line; invalid UTF-8 is replaced.
std::string dumped(const Json &value);

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
