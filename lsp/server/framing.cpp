#include "lsp/server/framing.h"

#include "common/message_header.h"

#include <algorithm>

namespace ptl::lsp {

static size_t lastHeaderIn(std::string_view text) {
  constexpr std::string_view name = "content-length:";
  for (size_t at = text.size(); at-- > 0;)
    if (text.size() - at >= name.size() && equalsIgnoringCase(text.substr(at, name.size()), name))
      return at;
  return text.npos;
}

/// Reads a header; false when it is not all there.
bool FrameReader::readHeader(std::string &error) {
  constexpr size_t longestHeader = 8192;
  while (true) {
    std::string_view rest = std::string_view(buffer_).substr(at_);
    size_t end = rest.find("\r\n\r\n");
    size_t size = end + 4;
    if (size_t bare = rest.find("\n\n"); bare < end) {
      end = bare;
      size = end + 2;
    }
    if (end == rest.npos) {
      if (rest.size() > longestHeader) {
        error = "no header in " + std::to_string(rest.size()) + " bytes";
        at_ = buffer_.size();
      }
      return false;
    }
    std::string_view header = rest.substr(0, end);
    at_ += size;
    if (auto length = contentLength(header)) {
      if (*length <= kMaxMessage) {
        length_ = length;
        return true;
      }
      error = "a message of " + std::to_string(*length) + " bytes is too large";
      skip_ = *length;
      return false;
    }
    error = "a header without Content-Length";
    // A broken frame ends somewhere, and the next header follows it without a line end.
    if (size_t next = lastHeaderIn(header); next != header.npos)
      if (auto length = contentLength(header.substr(next)); length && *length <= kMaxMessage) {
        length_ = length;
        return true;
      }
  }
}

void FrameReader::compact() {
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
  } else if (at_ > (size_t(1) << 16)) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
}

std::optional<std::string> FrameReader::next(std::string &error) {
  error.clear();
  if (skip_ > 0) {
    size_t skipped = std::min(skip_, buffer_.size() - at_);
    skip_ -= skipped;
    at_ += skipped;
  }
  if (skip_ > 0 || (!length_ && !readHeader(error)) || buffer_.size() - at_ < *length_) {
    compact();
    return std::nullopt;
  }
  std::string message = buffer_.substr(at_, *length_);
  at_ += *length_;
  length_.reset();
  compact();
  return message;
}

std::string frame(std::string_view message) {
  std::string framed = messageHeader(message.size());
  framed += message;
  return framed;
}

} // namespace ptl::lsp
