#include "runtime/npy/files.h"

#include "runtime/npy/array_file.h"
#include "runtime/npy/npy_header.h"
#include "runtime/npy/npz.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace ptl::rt {
namespace {

Failure withPath(const std::string &path, Failure failure) {
  if (failure)
    failure.message = "`" + path + "`: " + failure.message;
  return failure;
}

Failure writeFile(const std::string &path, std::span<const uint8_t> bytes) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return fileFailure(std::strerror(errno));
  Failure failure;
  for (size_t at = 0; at < bytes.size() && !failure;) {
    ssize_t written = ::write(file, bytes.data() + at, bytes.size() - at);
    if (written > 0)
      at += written;
    else if (written < 0 && errno != EINTR)
      failure = fileFailure(std::strerror(errno));
  }
  if (::close(file) != 0 && !failure)
    failure = fileFailure(std::strerror(errno));
  return failure;
}

} // namespace

Failure loadArray(const std::string &path, OwnedArray &array) {
  ArrayFile file;
  if (Failure failure = file.open(path))
    return failure;
  return file.read(array);
}

Failure saveNpy(const std::string &path, const PtlArray &array) {
  std::vector<uint8_t> bytes;
  Failure failure = writeNpy(array, bytes);
  return withPath(path, failure ? std::move(failure) : writeFile(path, bytes));
}

Failure saveNpz(const std::string &path, std::span<const std::pair<std::string, PtlArray>> arrays) {
  std::vector<uint8_t> bytes;
  Failure failure = writeNpz(arrays, bytes);
  return withPath(path, failure ? std::move(failure) : writeFile(path, bytes));
}

} // namespace ptl::rt
