// Text inside of HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace ptl {

/// The text as contents of an element or as the value of an attribute in double quotes.
inline std::string escapedMarkup(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

} // namespace ptl
