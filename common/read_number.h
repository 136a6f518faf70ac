// Whole numbers that people, files and other programs write as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptl {

/// The integer that the whole text is, in decimal digits; nothing for any other text, such as `12x`,
/// and for a number that `T` cannot hold. Whoever asks for a number must say so when there is none:
/// half of a text is never taken.
template <typename T = int64_t> std::optional<T> integerIn(std::string_view text) {
  T number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole ? std::optional(number) : std::nullopt;
}

} // namespace ptl
