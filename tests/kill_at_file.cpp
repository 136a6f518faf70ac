// Loaded before other libraries, ends one rank at one of its operations on files of checkpoints: `PTL_TEST_KILL=RANK:N`, its
// N-th one. A write at which it ends has written half.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::mutex turn;
int done = 0;

std::set<int> &ownFiles() {
  static std::set<int> files;
  return files;
}

bool isOurs(const char *path) { return std::strstr(path, "step-"); }

/// Whether this is the operation at which the rank ends.
bool isLast() {
  const char *kill = std::getenv("PTL_TEST_KILL"), *rank = std::getenv("OMPI_COMM_WORLD_RANK");
  int who = 0, when = 0;
  if (!kill || !rank || std::sscanf(kill, "%d:%d", &who, &when) != 2 || who != std::atoi(rank))
    return false;
  std::lock_guard lock(turn);
  return ++done == when;
}

void endIfLast() {
  if (isLast())
    ::raise(SIGKILL);
}

template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" __attribute__((visibility("default"))) int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  bool isOwn = isOurs(path);
  if (isOwn)
    endIfLast();
  int file = next<int(const char *, int, ...)>("open")(path, flags, mode);
  if (isOwn && file >= 0) {
    std::lock_guard lock(turn);
    ownFiles().insert(file);
  }
  return file;
}

extern "C" __attribute__((visibility("default"))) int close(int file) {
  {
    std::lock_guard lock(turn);
    ownFiles().erase(file);
  }
  return next<int(int)>("close")(file);
}

extern "C" __attribute__((visibility("default"))) ssize_t write(int file, const void *bytes,
                                                                size_t size) {
  auto real = next<ssize_t(int, const void *, size_t)>("write");
  bool isOwn = false;
  {
    std::lock_guard lock(turn);
    isOwn = ownFiles().contains(file);
  }
  if (isOwn && isLast()) {
    real(file, bytes, size / 2);
    ::raise(SIGKILL);
  }
  return real(file, bytes, size);
}

extern "C" __attribute__((visibility("default"))) int fsync(int file) {
  bool isOwn = false;
  {
    std::lock_guard lock(turn);
    isOwn = ownFiles().contains(file);
  }
  if (isOwn)
    endIfLast();
  return next<int(int)>("fsync")(file);
}

extern "C" __attribute__((visibility("default"))) int rename(const char *from, const char *to) {
  if (isOurs(from))
    endIfLast();
  return next<int(const char *, const char *)>("rename")(from, to);
}

extern "C" __attribute__((visibility("default"))) int mkdir(const char *path, mode_t mode) {
  if (isOurs(path))
    endIfLast();
  return next<int(const char *, mode_t)>("mkdir")(path, mode);
}

extern "C" __attribute__((visibility("default"))) int unlink(const char *path) {
  if (isOurs(path))
    endIfLast();
  return next<int(const char *)>("unlink")(path);
}

/// What removes folders calls this one.
extern "C" __attribute__((visibility("default"))) int unlinkat(int folder, const char *path,
                                                               int flags) {
  if (isOurs(path) || std::strstr(path, "part-"))
    endIfLast();
  return next<int(int, const char *, int)>("unlinkat")(folder, path, flags);
}
