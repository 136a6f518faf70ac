#include "runtime/checkpoint/saver.h"

#include "runtime/checkpoint/durable_files.h"
#include "runtime/checkpoint/folder.h"
#include "runtime/elem.h"
#include "runtime/npy/safetensors.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <unistd.h>

namespace ptl::checkpoint {

/// Beside a file that is on the disk: how many bytes it has, and their checksum.
static std::string sealOf(const std::string &file) { return file + ".seal"; }

static std::string writeContents(const std::string &place, const FileContents &contents,
                                 File &file) {
  std::vector<rt::SafeTensor> tensors;
  for (const FileContents::Array &array : contents.arrays)
    tensors.push_back({array.name, *rt::elemFromName(array.elem), array.shape, 0, 0});
  // The checksum is of the file as it stands on the disk, its header included.
  std::string header = rt::safetensorsHeader(tensors);
  std::vector<std::span<const uint8_t>> parts = {
      {reinterpret_cast<const uint8_t *>(header.data()), header.size()}};
  for (const FileContents::Array &array : contents.arrays)
    parts.emplace_back(array.bytes);
  file = {contents.name, 0, 0};
  for (std::span<const uint8_t> part : parts) {
    file.bytes += part.size();
    file.checksum = checksumOf(part.data(), part.size(), file.checksum);
  }
  return writeFile(place + "/" + contents.name, parts);
}

/// Others see a seal as a whole or not at all.
static std::string writeSeal(const std::string &place, const File &file) {
  std::string name = place + "/" + sealOf(file.name),
              text = std::to_string(file.bytes) + " " + std::to_string(file.checksum) + "\n";
  std::string why = writeFile(name + ".new", text);
  return why.empty() ? renameTo(name + ".new", name) : why;
}

Saver::~Saver() {
  // The thread may wait for another process that has ended; it looks at this while it waits.
  leaves_ = true;
  if (thread_.joinable())
    thread_.join();
}

std::string Saver::failure() {
  std::lock_guard lock(mutex_);
  return why_;
}

std::string Saver::finish() {
  if (thread_.joinable())
    thread_.join();
  return failure();
}

std::string Saver::begin(Snapshot snapshot) {
  // One snapshot is written at a time, and a failure of the one before ends the run before more is
  // computed in vain.
  if (std::string why = finish(); !why.empty())
    return why;
  thread_ = std::thread([this, snapshot = std::move(snapshot)] { work(snapshot); });
  return {};
}

void Saver::work(const Snapshot &snapshot) {
  std::string why;
  try {
    // An exception that leaves a thread would end the process without a reason.
    why = save(snapshot);
  } catch (const std::exception &error) {
    why = error.what();
  }
  std::lock_guard lock(mutex_);
  why_ = std::move(why);
}

std::string Saver::save(const Snapshot &snapshot) {
  std::string place = folder_ + "/" + unfinishedName(snapshot.manifest.next, token_);
  if (std::string why = makeFolder(place); !why.empty())
    return why;
  Manifest manifest = snapshot.manifest;
  for (const FileContents &contents : snapshot.files) {
    File written;
    if (std::string why = writeContents(place, contents, written); !why.empty())
      return why;
    // Only one process writes the manifest. The others leave the size and the checksum of their
    // file beside it, by which that process knows that the file is complete.
    if (!commits_) {
      if (std::string why = writeSeal(place, written); !why.empty())
        return why;
      continue;
    }
    for (File &file : manifest.files)
      if (file.name == written.name)
        file = written;
  }
  return commits_ ? commit(std::move(manifest), place) : std::string();
}

/// Waits for the seal of a file that another process writes. Its end ends this one, too.
std::string Saver::awaitFile(const std::string &place, File &file) {
  std::string name = place + "/" + sealOf(file.name), text;
  // Processes share nothing but the file system here, so it is asked again and again, less and less
  // often.
  for (std::chrono::milliseconds pause(1); ::access(name.c_str(), F_OK) != 0;
       pause = std::min(pause * 2, std::chrono::milliseconds(32))) {
    if (leaves_)
      return "the run ended before `" + file.name + "` was written";
    std::this_thread::sleep_for(pause);
  }
  if (std::string why = readFile(name, text); !why.empty())
    return why;
  std::istringstream words(text);
  // The seal was renamed into place as a whole, so what does not parse was written by another
  // program.
  words >> file.bytes >> file.checksum;
  ::unlink(name.c_str());
  return words ? std::string() : "`" + name + "` does not say the size and the checksum of a file";
}

/// All files are there; then the manifest; then the name. Each is on the disk before the next.
std::string Saver::commit(Manifest manifest, const std::string &place) {
  for (File &file : manifest.files)
    // Files of this process have their size by now; those of others are still 0, since no file is
    // empty.
    if (file.bytes == 0)
      if (std::string why = awaitFile(place, file); !why.empty())
        return why;
  std::string name = folder_ + "/" + nameOf(manifest.next);
  std::string why = writeFile(place + "/" + kManifestName, textOf(manifest));
  if (why.empty())
    why = syncFolder(place);
  // A run that goes on from an earlier checkpoint comes to iterations that were saved before; a
  // folder cannot be renamed onto another one.
  if (why.empty() && ::access(name.c_str(), F_OK) == 0)
    putAside(folder_, manifest.next);
  if (why.empty())
    why = renameTo(place, name);
  if (why.empty())
    why = syncFolder(folder_);
  if (why.empty())
    // Old checkpoints go only when the new one is on the disk.
    keepLatest(folder_, keep_);
  return why;
}

} // namespace ptl::checkpoint
