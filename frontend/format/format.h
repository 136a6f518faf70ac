// The formatter: prints a syntax tree as text in the language's one style. `ptlc fmt` and the
// language server share it.
#pragma once

#include "frontend/syntax/tree.h"

#include <string>
#include <vector>

namespace ptl {

/// A part of the file that was left unchanged, and why.
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

/// Formats a parsed file. It changes white space and removes `;` at line ends and trailing commas
/// of lists that are not broken one item per line; every other token and comment is kept. It is
/// idempotent, also for files with syntax errors: statements that have one are left unchanged.
FormatResult format(const Tree &tree);
/// The same for a text that was just written, of which nobody wants to know what is wrong.
std::string formatted(const std::string &text);

} // namespace ptl
