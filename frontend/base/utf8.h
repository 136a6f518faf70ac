// Decodes UTF-8 that may be malformed.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptl {

/// One code point of a text.
struct CodePoint {
  char32_t value = 0xFFFD;
  uint8_t length = 1; ///< bytes it takes, at least 1
  bool valid = false; ///< false for a byte that is not UTF-8; `value` is then U+FFFD and `length` 1
};

/// The code point that starts at `offset`, which must lie inside `text`.
CodePoint decodeUtf8(std::string_view text, size_t offset);

/// Columns that a code point takes on a terminal: 0 for combining marks, 2 for wide East Asian
/// ones.
unsigned displayWidth(char32_t codePoint);

/// Number of code points in `text`; each broken byte counts as one.
size_t countCodePoints(std::string_view text);

} // namespace ptl
