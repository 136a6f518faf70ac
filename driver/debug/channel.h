// Messages of the Debug Adapter Protocol on standard input and output: `Content-Length: N`, an empty
// line, N bytes of JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace ptl::debug {

class Channel {
public:
  /// Reads from and writes to file descriptors that others own.
  Channel(int input, int output) : input_(input), output_(output) {}

  /// The next message; waits for it. Nothing at the end of the input, and where no frame can be
  /// read any more.
  std::optional<nlohmann::json> next();
  /// Whether a part of a message is there already.
  bool hasInput() const;
  /// Numbers the message and sends it.
  void send(nlohmann::json message);

private:
  bool readMore();
  /// The number of bytes that the header at the beginning of the buffer announces.
  std::optional<size_t> takeHeader();

  int input_, output_;
  std::string buffer_;
  int64_t sent_ = 0;
};

} // namespace ptl::debug
