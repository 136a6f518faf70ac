// The folders that calls of tools may touch. Nothing outside them is read or written for an agent,
// whatever path, symbolic link or import leads there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptl::agent {

class Roots {
public:
  Roots() = default;
  /// Folders as they were named. Those that cannot be resolved are left out, and `problem` names one.
  Roots(const std::vector<std::string> &folders, std::string *problem);

  /// The real path of a file that exists, or of a new file in a folder that exists. Relative paths
  /// are resolved against the first folder. Empty, with the reason in `problem`, if the path lies
  /// outside all folders.
  std::string resolve(const std::string &path, std::string *problem) const;
  /// Whether a path lies inside a folder once symbolic links are followed. `also` names one more
  /// folder that counts as inside.
  bool holds(const std::string &path, std::string_view also = {}) const;
  /// The path as an agent would write it: relative to the first folder if it lies below that one.
  std::string shown(const std::string &path) const;

  const std::vector<std::string> &folders() const { return folders_; }

private:
  std::vector<std::string> folders_; ///< real paths
};

} // namespace ptl::agent
