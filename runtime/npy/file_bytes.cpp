#include "runtime/npy/file_bytes.h"

#include "runtime/npy/npy_header.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl::rt {

FileBytes::~FileBytes() {
  if (size_ > 0)
    munmap(memory_, size_);
}

Failure FileBytes::open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fileFailure(std::strerror(errno));
  Failure failure = map(file);
  ::close(file);
  return failure;
}

Failure FileBytes::map(int file) {
  struct stat info;
  if (fstat(file, &info) != 0)
    return fileFailure(std::strerror(errno));
  // Of a pipe or a terminal nobody knows the size, and it cannot be mapped.
  if (!S_ISREG(info.st_mode))
    return fileFailure("it is not a regular file");
  // The system maps no empty range, and an empty span says as much.
  if (info.st_size == 0)
    return {};
  void *memory = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED)
    return fileFailure(std::strerror(errno));
  memory_ = memory;
  size_ = info.st_size;
  return {};
}

} // namespace ptl::rt
