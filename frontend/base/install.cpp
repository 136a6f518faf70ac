#include "frontend/base/install.h"

#include <cstdlib>
#include <sys/auxv.h>
#include <unistd.h>

namespace ptl {

std::string executableFolder() {
  char path[4096];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  // Without /proc, as in a bare root, the kernel's word of what it started is left.
  if (text.empty())
    text = reinterpret_cast<const char *>(::getauxval(AT_EXECFN));
  return text.substr(0, text.rfind('/') + 1);
}

std::string standardLibraryFolder() {
  if (const char *chosen = std::getenv("PTL_STD"))
    return chosen;
  for (const char *place : {"../share/ptl/std", "../../std"}) {
    std::string folder = executableFolder() + place;
    if (::access(folder.c_str(), R_OK) == 0)
      return folder;
  }
  return "";
}

} // namespace ptl
