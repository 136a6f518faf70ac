// The frames around messages: `Content-Length: N`, an empty line, N bytes. After a broken frame,
// bytes are skipped up to the next header, and reading continues there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ptl::lsp {

/// Cuts a stream of bytes into messages.
class FrameReader {
public:
  /// A message larger than that is skipped, in bytes.
  static constexpr size_t kMaxMessage = size_t(256) << 20;

  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// The next whole message; nothing until more bytes are fed. `error` describes a broken frame
  /// before it.
  std::optional<std::string> next(std::string &error);
  /// The number of bytes that wait for the rest of their message.
  size_t pending() const { return buffer_.size() - at_; }

private:
  bool readHeader(std::string &error);
  void compact();

  std::string buffer_;
  size_t at_ = 0;
  std::optional<size_t> length_; ///< of the message whose header was read
  size_t skip_ = 0;              ///< bytes of a message that is too large
};

/// A message with its frame.
std::string frame(std::string_view message);

} // namespace ptl::lsp
