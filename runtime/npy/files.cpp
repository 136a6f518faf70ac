#include "runtime/npy/npy.h"
#include "runtime/npy/npy_header.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptl::rt {
namespace {

/// The bytes of a regular file, mapped.
class FileBytes {
public:
  FileBytes() = default;
  ~FileBytes() {
    if (size_ > 0)
      munmap(memory_, size_);
  }
  FileBytes(const FileBytes &) = delete;
  FileBytes &operator=(const FileBytes &) = delete;

  Failure open(const std::string &path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return fileFailure(std::strerror(errno));
    Failure failure = map(file);
    ::close(file);
    return failure;
  }

  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t *>(memory_), size_}; }

private:
  Failure map(int file) {
    struct stat info;
    if (fstat(file, &info) != 0)
      return fileFailure(std::strerror(errno));
    if (!S_ISREG(info.st_mode))
      return fileFailure("it is not a regular file");
    if (info.st_size == 0)
      return {};
    void *memory = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
      return fileFailure(std::strerror(errno));
    memory_ = memory;
    size_ = info.st_size;
    return {};
  }

  void *memory_ = nullptr;
  size_t size_ = 0;
};

Failure withPath(const std::string &path, Failure failure) {
  if (failure)
    failure.message = "`" + path + "`: " + failure.message;
  return failure;
}

bool startsAsZip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] == 'K';
}

Failure readArchive(std::span<const uint8_t> bytes, std::string name, OwnedArray &array) {
  if (name.empty()) {
    std::vector<std::string> names;
    if (Failure failure = listNpz(bytes, names))
      return failure;
    if (names.size() != 1) {
      std::string known;
      for (const std::string &each : names)
        known += (known.empty() ? "" : ", ") + each;
      return fileFailure("the archive holds " + std::to_string(names.size()) +
                         " arrays; add `:name` with one of: " + known.substr(0, 400));
    }
    name = names[0];
  }
  return readNpz(bytes, name, array);
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
  // "x.npz:name" names an array of an archive, unless a file is really called so.
  std::string file = path, name;
  size_t colon = path.rfind(".npz:");
  if (colon != std::string::npos && access(path.c_str(), F_OK) != 0) {
    file = path.substr(0, colon + 4);
    name = path.substr(colon + 5);
  }
  FileBytes content;
  if (Failure failure = content.open(file))
    return withPath(file, std::move(failure));
  if (startsAsZip(content.bytes()))
    return withPath(file, readArchive(content.bytes(), name, array));
  if (!name.empty())
    return withPath(file, fileFailure("this is not a .npz file"));
  return withPath(file, readNpy(content.bytes(), array));
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
