// Words and the text between them.
#pragma once

#include <string>
#include <string_view>

namespace ptl {

/// The words with the separator between them.
template <typename Words> std::string joined(const Words &words, std::string_view separator = " ") {
  std::string text;
  for (bool isFirst = true; std::string_view word : words) {
    if (!isFirst)
      text += separator;
    text += word;
    isFirst = false;
  }
  return text;
}

/// The text without the spaces, tabs and carriage returns around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  size_t begin = text.find_first_not_of(blank);
  return begin == text.npos ? std::string_view()
                            : text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

} // namespace ptl
