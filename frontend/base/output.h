// Files that `ptlc` writes: they appear whole, by rename, or not at all.
#pragma once

#include <string>
#include <string_view>

namespace ptl {

/// Writes `data` to `path`; `-` is standard output. Nothing is left behind on failure; `error` then
/// says why, in words.
bool writeOutput(const std::string &path, std::string_view data, std::string *error);

} // namespace ptl
