// The formatter: syntax tree to text in the one style of the language. Shared by `ptlc fmt` and the
// server.
#pragma once

#include "frontend/syntax/tree.h"

#include <string>
#include <vector>

namespace ptl {

/// A part of the file that was left as it is, and why.
struct UntouchedRegion {
  Span span;
  std::string reason; ///< lower case, no full stop: "has a syntax error"
};

struct FormatResult {
  std::string text;
  std::vector<UntouchedRegion> untouched;
};

inline constexpr unsigned kFormatColumns = 100;
inline constexpr unsigned kFormatIndent = 4;

/// Formats a parsed file. Changes white space and drops `;` at line ends and trailing commas of
/// lists that are not broken one item per line, nothing else: every other token and comment is
/// kept. Idempotent, with syntax errors too: statements that have one stay verbatim.
FormatResult format(const Tree &tree);

} // namespace ptl
