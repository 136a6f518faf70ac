// A file that the build embeds in the binary (`cmake/embed.py`).
#pragma once

#include <string_view>

namespace ptl {

struct EmbeddedFile {
  std::string_view name; ///< file name without folder and extension
  std::string_view text;
};

} // namespace ptl
