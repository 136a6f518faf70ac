#include "frontend/base/disk_cache.h"

#include "common/read_number.h"
#include "frontend/base/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ptl {

namespace {

/// What stands before a value. Another form of these files gets another magic number.
struct Header {
  char magic[8];
  uint64_t size, checksum;
};
constexpr char kMagic[8] = {'p', 't', 'l', 'c', 'o', 'd', 'e', '1'};

/// Ends of the names of values: those of this class, and what the Python package keeps.
constexpr const char *kEndings[] = {".code", ".so", ".json"};
constexpr time_t kAbandonedAfter = 3600;

/// FNV-1a. It has to find accidents, and covers the key, so that a renamed file is not believed.
uint64_t checksumOf(std::string_view key, std::string_view value) {
  uint64_t sum = 0xcbf29ce484222325;
  for (std::string_view part : {key, value})
    for (char each : part)
      sum = (sum ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return sum;
}

bool isPrivateOf(const struct stat &info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

struct CachedFile {
  std::string name;
  uint64_t bytes;
  timespec used;
  bool isValue; ///< false: left by a process that was killed while it wrote
};

bool isOlder(const CachedFile &a, const CachedFile &b) {
  if (a.used.tv_sec != b.used.tv_sec)
    return a.used.tv_sec < b.used.tv_sec;
  return a.used.tv_nsec < b.used.tv_nsec;
}

bool hasEnding(std::string_view name) {
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](const char *ending) { return name.ends_with(ending); });
}

/// What lies in the folder and is the cache's: values, and files that never became values.
std::vector<CachedFile> filesOf(const std::string &folder) {
  std::vector<CachedFile> files;
  DIR *listing = ::opendir(folder.c_str());
  if (!listing)
    return files;
  while (const dirent *entry = ::readdir(listing)) {
    std::string_view name = entry->d_name;
    bool isValue = hasEnding(name), isPart = name.find(".code.") != name.npos;
    struct stat info;
    if ((isValue || isPart) &&
        ::fstatat(::dirfd(listing), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode))
      files.push_back(
          {std::string(name), static_cast<uint64_t>(info.st_size), info.st_mtim, isValue});
  }
  ::closedir(listing);
  return files;
}

/// Makes the folder and those above it.
bool makeFolder(const std::string &folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = folder.find_last_of('/');
  return errno == ENOENT && slash != folder.npos && slash > 0 &&
         makeFolder(folder.substr(0, slash)) &&
         (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST);
}

std::optional<std::string> readWhole(int descriptor, uint64_t size) {
  std::string data(size, '\0');
  size_t have = 0;
  while (have < size) {
    ssize_t count = ::read(descriptor, data.data() + have, size - have);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    have += static_cast<size_t>(count);
  }
  return data;
}

} // namespace

std::shared_ptr<const DiskCache> DiskCache::ofUser() {
  std::string folder;
  auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (folder = variable("PTL_CACHE"); folder == "off")
    return nullptr;
  if (folder.empty()) {
    // The XDG specification says that a relative path in this variable is to be ignored.
    if (std::string home = variable("XDG_CACHE_HOME"); home.starts_with("/"))
      folder = home + "/ptl";
    else if (home = variable("HOME"); !home.empty())
      folder = home + "/.cache/ptl";
    else
      return nullptr;
  }
  std::string limit = variable("PTL_CACHE_LIMIT");
  std::optional<uint64_t> mebibytes = integerIn<uint64_t>(limit);
  // The bound keeps the shift to bytes from overflowing.
  bool isGiven = mebibytes && *mebibytes < (uint64_t(1) << 40);
  if (!limit.empty() && !isGiven)
    std::fprintf(stderr, "ptlc: PTL_CACHE_LIMIT=%s is ignored: it is not a number of MiB\n",
                 limit.c_str());
  return std::make_shared<const DiskCache>(folder, isGiven ? *mebibytes << 20 : kDefaultLimit);
}

bool DiskCache::isUsable() const {
  struct stat info;
  return ::stat(folder_.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && isPrivateOf(info);
}

std::optional<std::string> DiskCache::find(std::string_view key) const {
  std::string path = folder_ + "/" + std::string(key) + ".code";
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return std::nullopt;
  std::optional<std::string> data;
  struct stat info;
  if (isUsable() && ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && isPrivateOf(info) &&
      info.st_size >= static_cast<off_t>(sizeof(Header)))
    data = readWhole(descriptor, static_cast<uint64_t>(info.st_size));
  Header header{};
  if (data)
    std::memcpy(&header, data->data(), sizeof header);
  bool isWhole = data && std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
                 header.size == data->size() - sizeof header;
  if (isWhole) {
    data->erase(0, sizeof header);
    isWhole = checksumOf(key, *data) == header.checksum;
  }
  if (isWhole)
    ::futimens(descriptor, nullptr); // the time of its last use
  ::close(descriptor);
  return isWhole ? std::move(data) : std::nullopt;
}

void DiskCache::store(std::string_view key, std::string_view value) const {
  if (sizeof(Header) + value.size() > limit_ || !makeFolder(folder_) || !isUsable())
    return;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = value.size();
  header.checksum = checksumOf(key, value);
  std::string data(reinterpret_cast<const char *>(&header), sizeof header);
  data += value;
  std::string path = folder_ + "/" + std::string(key) + ".code", error;
  if (writeOutput(path, data, &error)) {
    ::chmod(path.c_str(), 0600);
    keepLimit();
  }
}

void DiskCache::keepLimit() const {
  std::vector<CachedFile> files = filesOf(folder_);
  uint64_t bytes = 0;
  for (const CachedFile &file : files) {
    // Another process may be writing it just now.
    bool isAbandoned = !file.isValue && file.used.tv_sec + kAbandonedAfter < std::time(nullptr);
    if (isAbandoned)
      ::unlink((folder_ + "/" + file.name).c_str());
    else
      bytes += file.bytes;
  }
  if (bytes <= limit_)
    return;
  std::sort(files.begin(), files.end(), isOlder);
  for (const CachedFile &file : files) {
    if (bytes <= limit_)
      break;
    if (!file.isValue)
      continue;
    ::unlink((folder_ + "/" + file.name).c_str());
    bytes -= file.bytes;
  }
}

DiskCache::Usage DiskCache::usage() const {
  Usage usage;
  for (const CachedFile &file : filesOf(folder_)) {
    ++usage.files;
    usage.bytes += file.bytes;
  }
  return usage;
}

DiskCache::Usage DiskCache::clear() const {
  Usage removed;
  for (const CachedFile &file : filesOf(folder_))
    if (::unlink((folder_ + "/" + file.name).c_str()) == 0) {
      ++removed.files;
      removed.bytes += file.bytes;
    }
  return removed;
}

} // namespace ptl
