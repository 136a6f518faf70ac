// Output files of `ptlc`: they appear atomically, by rename, or not at all.
#pragma once

#include <string>
#include <string_view>

namespace ptl {

/// Writes `data` to `path`; `-` is standard output. On failure no file is left behind, and `error`
/// has the reason in words.
bool writeOutput(const std::string &path, std::string_view data, std::string *error);

} // namespace ptl
