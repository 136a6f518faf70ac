#include "lsp/server/framing.h"

#include "frontend/base/read_number.h"

#include <algorithm>

namespace ptl::lsp {

static bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return (x | 0x20) == (y | 0x20);
         });
}

static std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// The number after `Content-Length:` in the lines of a header.
static std::optional<size_t> contentLength(std::string_view header) {
  while (!header.empty()) {
    size_t end = std::min(header.find('\n'), header.size());
    std::string_view line = trimmed(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    size_t colon = line.find(':');
    if (colon == line.npos || !equalsIgnoringCase(trimmed(line.substr(0, colon)), "content-length"))
      continue;
    if (std::optional<size_t> length = integerIn<size_t>(trimmed(line.substr(colon + 1))))
      return length;
  }
  return std::nullopt;
}

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

std::string frameHeader(size_t size) {
  return "Content-Length: " + std::to_string(size) + "\r\n\r\n";
}

std::string frame(std::string_view message) {
  std::string framed = frameHeader(message.size());
  framed += message;
  return framed;
}

} // namespace ptl::lsp
