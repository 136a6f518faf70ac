// The examples and the library, for tests that ask everything of real files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace ptl::ide {

/// Their paths, in order.
inline std::vector<std::string> examplePaths() {
  std::vector<std::string> paths;
  for (const char *folder : {"/examples", "/std"})
    for (const auto &entry :
         std::filesystem::directory_iterator(PTL_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".ptl")
        paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace ptl::ide
