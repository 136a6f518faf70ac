#include "lsp/server/cache_folder.h"

#include <cstdlib>
#include <filesystem>

namespace ptl::lsp {

namespace fs = std::filesystem;

std::string cacheFolder(const std::string &name) {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path folder = cache ? fs::path(cache) : home ? fs::path(home) / ".cache" : fs::path();
  if (folder.empty())
    return "";
  folder /= "ptl/" + name;
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? "" : folder.string();
}

} // namespace ptl::lsp
