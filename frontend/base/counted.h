// Numbers of things in messages.
#pragma once

#include <string>
#include <string_view>

namespace ptl {

/// `1 error`, `2 errors`: words whose plural ends with `s`.
inline std::string counted(size_t count, std::string_view word) {
  return std::to_string(count) + " " + std::string(word) + (count == 1 ? "" : "s");
}

} // namespace ptl
