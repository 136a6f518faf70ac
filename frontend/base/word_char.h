// The characters of names.
#pragma once

namespace ptl {

/// Whether a character may stand in a name of PTL: a letter, a digit or `_`.
constexpr bool isWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace ptl
