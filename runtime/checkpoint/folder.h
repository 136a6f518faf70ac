// The folder of a run's checkpoints: `step-300/` and so on. A checkpoint gets its name only when it
// is complete.
#pragma once

#include "runtime/checkpoint/manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl::checkpoint {

/// Locks the folder for one run during the lifetime of this object. The system releases the lock
/// when the process ends.
class FolderLock {
public:
  /// Creates the folder if necessary. Null, with the reason, if another run has locked it.
  static std::unique_ptr<FolderLock> take(const std::string &folder, std::string &why);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;

private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

/// The name of the checkpoint from which a run resumes with iteration `next`.
std::string nameOf(int64_t next);
/// The `next` of each checkpoint in a folder, the latest first.
std::vector<int64_t> checkpointsIn(const std::string &folder);
/// Removes the unfinished checkpoints of runs that were killed while they wrote.
void removeUnfinished(const std::string &folder);
/// The name of a checkpoint's folder while it is being written. Each run has its own `token`.
std::string unfinishedName(int64_t next, const std::string &token);
/// Renames a damaged checkpoint, so that it is not used again.
void putAside(const std::string &folder, int64_t next);
/// Removes all checkpoints except the latest `count`.
void keepLatest(const std::string &folder, size_t count);

/// Reads every `shares`-th file of one checkpoint, beginning with number `share`, and returns an
/// error message if one is damaged; otherwise an empty text. `folder` is that of the checkpoint
/// itself.
std::string verify(const std::string &folder, const Manifest &manifest, uint32_t share,
                   uint32_t shares);

/// Reads the elements of a box of a variable, dense, from the files that contain them. Returns an
/// error message, or an empty text.
std::string readBox(const std::string &folder, const Manifest &manifest, size_t variable,
                    const movement::Box &box, std::vector<uint8_t> &bytes);

} // namespace ptl::checkpoint
