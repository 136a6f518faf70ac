// The pages behind `ptlc explain`, part of the binary. Sources: `frontend/base/explain/<CODE>.md`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// The Markdown page of a code (`E0312`), nothing if there is none.
std::optional<std::string_view> explainPage(std::string_view code);

/// Codes of the table that come closest to `code`, best first, at most `limit`; also found by name.
std::vector<std::string_view> similarCodes(std::string_view code, size_t limit);

/// Number of edits that turn `a` into `b`, for suggestions.
size_t editDistance(std::string_view a, std::string_view b);

} // namespace ptl
