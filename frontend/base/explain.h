// The pages of `ptlc explain`, embedded in the binary. Their sources are
// `frontend/base/explain/<CODE>.md`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// The Markdown page of a code (`E0312`), nothing if there is none.
std::optional<std::string_view> explainPage(std::string_view code);

/// The codes of the table that are most similar to `code`, best first, at most `limit`. Names of
/// diagnostics are searched as well.
std::vector<std::string_view> similarCodes(std::string_view code, size_t limit);

/// The number of single-character edits that turn `a` into `b`, for suggestions.
size_t editDistance(std::string_view a, std::string_view b);

} // namespace ptl
