// What the formatter writes before its text is put together. Only for use inside `frontend/format`.
#pragma once

#include <cstdint>
#include <string>

namespace ptl {

/// One line of output. Texts of comments may hold line ends.
struct OutputLine {
  unsigned indent = 0;
  std::string text;
  std::string comment;    ///< behind the text
  bool isComment = false; ///< the text itself is a comment
  bool closed = false;    ///< ends in a line comment: nothing may follow
  uint32_t anchor = 0;    ///< byte of `text` that may be aligned with the lines around, 0 for none
  uint32_t sourceAnchor = 0;  ///< its column in the source
  uint32_t sourceComment = 0; ///< column of the comment in the source
};

} // namespace ptl
