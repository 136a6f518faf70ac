// One spelling for each file.
#pragma once

#include <filesystem>
#include <string>

namespace ptl {

/// The path without links and `..`; the path as it is where the system does not say.
inline std::string canonicalPath(const std::string &path) {
  std::error_code failed;
  std::filesystem::path whole = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : whole.string();
}

} // namespace ptl
