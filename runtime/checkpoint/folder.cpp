#include "runtime/checkpoint/folder.h"

#include "runtime/checkpoint/durable_files.h"
#include "runtime/elem.h"
#include "runtime/movement/execute.h"
#include "runtime/npy/array_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/file.h>
#include <unistd.h>

namespace ptl::checkpoint {

namespace fs = std::filesystem;

static constexpr std::string_view kPrefix = "step-", kUnfinished = ".part", kAside = ".damaged";

// ---- The lock ----------------------------------------------------------------------------------

std::unique_ptr<FolderLock> FolderLock::take(const std::string &folder, std::string &why) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    why = "the folder `" + folder + "` cannot be made: " + error.message();
    return nullptr;
  }
  // The kernel drops the lock with the process, so a run that is killed leaves none behind.
  int file = ::open((folder + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0)
    return std::unique_ptr<FolderLock>(new FolderLock(file));
  // The lock is held by another process in this case alone; all other reasons are about the file.
  why = errno == EWOULDBLOCK ? "another run saves its checkpoints in `" + folder + "`"
                             : "`" + folder + "/.lock` cannot be made: " + std::strerror(errno);
  if (file >= 0)
    ::close(file);
  return nullptr;
}

FolderLock::~FolderLock() { ::close(file_); }

// ---- Names -------------------------------------------------------------------------------------

std::string nameOf(int64_t next) { return std::string(kPrefix) + std::to_string(next); }

std::string unfinishedName(int64_t next, const std::string &token) {
  return "." + nameOf(next) + "." + token + std::string(kUnfinished);
}

static void forEachName(const std::string &folder,
                        const std::function<void(const std::string &)> &visit) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    visit(at->path().filename().string());
}

std::vector<int64_t> checkpointsIn(const std::string &folder) {
  std::vector<int64_t> found;
  forEachName(folder, [&](const std::string &name) {
    int64_t next = 0;
    const char *end = name.data() + name.size();
    if (name.starts_with(kPrefix) &&
        std::from_chars(name.data() + kPrefix.size(), end, next).ptr == end && nameOf(next) == name)
      found.push_back(next);
  });
  std::ranges::sort(found, std::greater<>());
  return found;
}

void removeUnfinished(const std::string &folder) {
  std::vector<std::string> names;
  forEachName(folder, [&](const std::string &name) {
    if (name.starts_with("." + std::string(kPrefix)) && name.ends_with(kUnfinished))
      // Nothing is removed while the folder is walked, because the walk would then be undefined.
      names.push_back(name);
  });
  for (const std::string &name : names)
    removeAll(folder + "/" + name);
}

void putAside(const std::string &folder, int64_t next) {
  std::string aside = folder + "/" + nameOf(next) + std::string(kAside);
  // A folder can only be renamed to a name that is free.
  removeAll(aside);
  renameTo(folder + "/" + nameOf(next), aside);
}

void keepLatest(const std::string &folder, size_t count) {
  std::vector<int64_t> found = checkpointsIn(folder);
  for (size_t at = count; at < found.size(); ++at) {
    // What is removed in part has no name of a checkpoint any more.
    std::string old = folder + "/" + unfinishedName(found[at], "old");
    removeAll(old);
    if (renameTo(folder + "/" + nameOf(found[at]), old).empty())
      removeAll(old);
  }
}

// ---- Contents ----------------------------------------------------------------------------------

static std::string verifyFile(const std::string &folder, const File &file) {
  rt::FileBytes bytes;
  if (rt::Failure failure = bytes.open(folder + "/" + file.name))
    return "`" + file.name + "` cannot be read: " + failure.message;
  size_t size = bytes.bytes().size();
  // The size is compared first, because a file that was cut short is the most usual damage and is
  // found without reading it.
  if (size != file.bytes)
    return "`" + file.name + "` has " + std::to_string(size) + " bytes, not " +
           std::to_string(file.bytes);
  if (checksumOf(bytes.bytes().data(), size) != file.checksum)
    return "`" + file.name + "` was changed after it was written: its checksum differs";
  return {};
}

std::string verify(const std::string &folder, const Manifest &manifest, uint32_t share,
                   uint32_t shares) {
  // Each part verifies its share, so that all files are read once in all and at the same time.
  for (size_t at = share; at < manifest.files.size(); at += shares)
    if (std::string why = verifyFile(folder, manifest.files[at]); !why.empty())
      return why;
  return {};
}

/// Copies what `piece` has of `box` to where it belongs there.
static std::string copyPiece(const std::string &folder, const Manifest &manifest,
                             const Piece &piece, const movement::Box &box, size_t size,
                             std::vector<uint8_t> &bytes) {
  movement::Box common = movement::intersection(piece.box, box);
  rt::ArrayFile file;
  std::string path = folder + "/" + manifest.files[piece.file].name + ":" + piece.name;
  if (rt::Failure failure = file.open(path))
    return failure.message;
  std::vector<rt::AxisPart> part;
  std::vector<int64_t> shape;
  for (size_t axis = 0; axis < common.size(); ++axis) {
    part.push_back(
        {common[axis].begin - piece.box[axis].begin, common[axis].end - piece.box[axis].begin});
    shape.push_back(piece.box[axis].length());
  }
  // Files are checked against the manifest: a checksum says only that both are as they were
  // written.
  if (file.extents() != shape || rt::elemInfo(file.elem())->size() != static_cast<int>(size))
    return "`" + path + "` is not an array of the shape in the manifest";
  rt::OwnedArray array;
  if (rt::Failure failure = file.read(part, array))
    return failure.message;
  const auto *from = static_cast<const uint8_t *>(array.data());
  // The part was read densely, so its rows follow each other, while in the box they lie apart.
  movement::forEachRow(box, common, [&](int64_t offset, int64_t length) {
    auto count = static_cast<size_t>(length) * size;
    std::memcpy(bytes.data() + static_cast<size_t>(offset) * size, from, count);
    from += count;
  });
  return {};
}

std::string readBox(const std::string &folder, const Manifest &manifest, size_t variable,
                    const movement::Box &box, std::vector<uint8_t> &bytes) {
  auto size =
      static_cast<size_t>(rt::elemInfo(*rt::elemFromName(manifest.state[variable].elem))->size());
  bytes.assign(static_cast<size_t>(movement::elementCount(box)) * size, 0);
  for (const Piece &piece : manifest.pieces) {
    if (piece.variable != variable ||
        movement::elementCount(movement::intersection(piece.box, box)) == 0)
      continue;
    if (std::string why = copyPiece(folder, manifest, piece, box, size, bytes); !why.empty())
      return why;
  }
  return {};
}

} // namespace ptl::checkpoint
