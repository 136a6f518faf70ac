// Integers written in decimal digits.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptl {

/// The integer that the whole text is; nothing for another text, or for a number that `T` cannot
/// hold.
template <typename T = int64_t> std::optional<T> integerIn(std::string_view text) {
  T number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole ? std::optional(number) : std::nullopt;
}

} // namespace ptl
