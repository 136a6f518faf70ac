#include "runtime/checkpoint/durable_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl::checkpoint {

static std::string failed(const std::string &path, const char *what) {
  return "`" + path + "` cannot be " + what + ": " + std::strerror(errno);
}

static bool writeAll(int file, std::span<const uint8_t> bytes) {
  constexpr size_t kMost = size_t(1) << 30; // a call writes less than 2 GiB
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), std::min(bytes.size(), kMost));
    // A signal may interrupt a write, which is then repeated.
    if (written < 0 && errno != EINTR)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

std::string writeFile(const std::string &path, std::span<const std::span<const uint8_t>> bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return failed(path, "made");
  bool isWell = std::ranges::all_of(
                    bytes, [&](std::span<const uint8_t> part) { return writeAll(file, part); }) &&
                // Without this the system may write the file after the rename that makes it valid.
                ::fsync(file) == 0;
  std::string why = isWell ? std::string() : failed(path, "written");
  if (::close(file) != 0 && why.empty())
    why = failed(path, "written");
  return why;
}

std::string writeFile(const std::string &path, const std::string &text) {
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  return writeFile(path, std::span(&bytes, 1));
}

std::string readFile(const std::string &path, std::string &text) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return failed(path, "read");
  text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return file.bad() ? failed(path, "read") : std::string();
}

std::string makeFolder(const std::string &path) {
  return ::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST ? std::string() : failed(path, "made");
}

std::string syncFolder(const std::string &path) {
  // The name of a file is data of its folder, which has to reach the disk, too.
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return failed(path, "opened");
  std::string why = ::fsync(folder) == 0 ? std::string() : failed(path, "written");
  ::close(folder);
  return why;
}

std::string renameTo(const std::string &from, const std::string &to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? std::string() : failed(to, "put in place");
}

void removeAll(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
}

} // namespace ptl::checkpoint
