#include "agent/roots.h"

#include <filesystem>

namespace ptl::agent {

namespace fs = std::filesystem;

static bool isBelow(const std::string &path, std::string_view folder) {
  if (folder == "/")
    return true;
  return path.size() >= folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// With links followed as far as the path exists; empty where that fails.
static std::string realPath(const fs::path &path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  return error ? "" : real.string();
}

Roots::Roots(const std::vector<std::string> &folders, std::string *problem) {
  for (const std::string &folder : folders) {
    std::error_code error;
    fs::path real = fs::canonical(folder, error);
    if (!error && fs::is_directory(real, error))
      folders_.push_back(real.string());
    else
      *problem = "`" + folder + "` is not a folder";
  }
}

bool Roots::holds(const std::string &path, std::string_view also) const {
  std::string real = realPath(path);
  if (real.empty())
    return false;
  for (const std::string &folder : folders_)
    if (isBelow(real, folder))
      return true;
  return !also.empty() && isBelow(real, realPath(fs::path(also)));
}

std::string Roots::resolve(const std::string &path, std::string *problem) const {
  if (path.empty() || path.find('\0') != path.npos || folders_.empty()) {
    *problem = "a path is needed";
    return "";
  }
  fs::path whole = fs::path(folders_.front()) / path; // an absolute `path` replaces the folder
  std::string real = realPath(whole);
  if (!real.empty() && holds(real))
    return real;
  *problem = "`" + path + "` is outside of the folders that the server was started for";
  for (const std::string &folder : folders_)
    *problem += (&folder == &folders_.front() ? ": `" : ", `") + folder + "`";
  return "";
}

std::string Roots::shown(const std::string &path) const {
  if (folders_.empty() || path == folders_.front() || !isBelow(path, folders_.front()))
    return path;
  return path.substr(folders_.front() == "/" ? 1 : folders_.front().size() + 1);
}

} // namespace ptl::agent
