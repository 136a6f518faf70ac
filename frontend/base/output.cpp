#include "frontend/base/output.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl {

static bool writeAll(int descriptor, std::string_view data) {
  while (!data.empty()) {
    ssize_t count = ::write(descriptor, data.data(), data.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    data.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Devices and pipes cannot be replaced by a rename; they are written in place.
static bool isSpecial(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

bool writeOutput(const std::string &path, std::string_view data, std::string *error) {
  // A regular file is replaced by renaming a complete one, so that a reader never sees half of it
  // and a failure leaves the old one. Devices and pipes cannot be replaced.
  bool inPlace = path != "-" && isSpecial(path);
  std::string temporary = inPlace ? path : path + ".XXXXXX";
  int descriptor = STDOUT_FILENO;
  if (inPlace)
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  else if (path != "-")
    descriptor = ::mkstemp(temporary.data());
  bool fine = descriptor >= 0 && writeAll(descriptor, data);
  if (path != "-" && descriptor >= 0) {
    // `mkstemp` makes a file that only its owner may read, while the result gets the mode of the
    // file it replaces, or that of any new file. POSIX has no way to read the mask without setting
    // it.
    mode_t mask = ::umask(0);
    ::umask(mask);
    struct stat old;
    mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask;
    fine = fine && (inPlace || ::fchmod(descriptor, mode) == 0);
    fine = ::close(descriptor) == 0 && fine;
    fine = fine && (inPlace || ::rename(temporary.c_str(), path.c_str()) == 0);
  }
  if (fine)
    return true;
  if (error)
    *error = std::strerror(errno);
  if (path != "-" && !inPlace && descriptor >= 0)
    ::unlink(temporary.c_str());
  return false;
}

} // namespace ptl
