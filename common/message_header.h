// The header in front of messages of the protocols of editors and debuggers: `Content-Length: N`.
#pragma once

#include "common/read_number.h"
#include "common/words.h"

#include <algorithm>
#include <string>

namespace ptl {

/// The header of a message of this size, with the empty line that ends it.
inline std::string messageHeader(size_t size) {
  return "Content-Length: " + std::to_string(size) + "\r\n\r\n";
}

inline bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  // Bit 0x20 is what lower and upper case differ by.
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

/// The number after `Content-Length:` in the lines of a header; nothing if no line has one.
inline std::optional<size_t> contentLength(std::string_view header) {
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

} // namespace ptl
