// Messages between the server and the worker: JSON behind a `Content-Length` header, as in LSP.
#pragma once

#include <nlohmann/json.hpp>

#include <deque>
#include <optional>
#include <string>

namespace ptl::worker {

using Json = nlohmann::json;

/// The member as text, number or truth; what is missing or of another type gives the default.
std::string textOf(const Json &object, const char *key, const std::string &otherwise = "");
int64_t numberOf(const Json &object, const char *key, int64_t otherwise);
bool truthOf(const Json &object, const char *key, bool otherwise);
/// The member when it is an object, else an empty object.
const Json &objectOf(const Json &object, const char *key);

/// One line, with what is not UTF-8 replaced.
std::string dumped(const Json &value);

class Channel {
public:
  Channel(int in, int out) : in_(in), out_(out) {}

  /// The next message, waiting for it. Nothing at the end of the input. A message that is no JSON
  /// object, or a frame that is none, is a discarded value: what follows a broken header is
  /// skipped up to the next one.
  std::optional<Json> read();
  /// Takes in what has arrived, without waiting.
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
