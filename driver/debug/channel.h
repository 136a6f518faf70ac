// Messages of the Debug Adapter Protocol on standard input and output: `Content-Length: N`, an empty
// line, N bytes of JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace ptl::debug {

class Channel {
public:
  /// Reads from and writes to file descriptors that the caller owns.
  Channel(int input, int output) : input_(input), output_(output) {}

  /// Waits for the next message and returns it. Nothing at the end of the input, or after a
  /// malformed header.
  std::optional<nlohmann::json> next();
  /// Whether at least a part of a message has arrived.
  bool hasInput() const;
  /// Numbers the message and sends it.
  void send(nlohmann::json message);

private:
  bool readMore();
  /// Removes a header from the beginning of the buffer; returns the number of bytes that it
  /// announces.
  std::optional<size_t> takeHeader();

  int input_, output_;
  std::string buffer_;
  int64_t sent_ = 0;
};

} // namespace ptl::debug
