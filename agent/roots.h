// The folders that calls may touch: nothing outside them is read or written for an agent, whatever the path, a
// link or an import says.
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

  /// The real path of a file that exists, or of one in a folder that does. Relative paths begin in the
  /// first folder. Empty, with the reason, where that is outside all folders.
  std::string resolve(const std::string &path, std::string *problem) const;
  /// Whether a path is inside once links are followed. Folders in `also` count as inside, too.
  bool holds(const std::string &path, std::string_view also = {}) const;
  /// The path as an agent would write it: from the first folder if it is below.
  std::string shown(const std::string &path) const;

  const std::vector<std::string> &folders() const { return folders_; }

private:
  std::vector<std::string> folders_; ///< real paths
};

} // namespace ptl::agent
