// The folder of a run's checkpoints: `step-300/` and so on, each complete since it has its name.
#pragma once

#include "runtime/checkpoint/manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl::checkpoint {

/// The folder belongs to one run as long as this lives; the system ends that with the process.
class FolderLock {
public:
  /// Makes the folder if there is none; null, and the reason, if another run has it.
  static std::unique_ptr<FolderLock> take(const std::string &folder, std::string &why);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;

private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

/// The name of the checkpoint from which iteration `next` goes on.
std::string nameOf(int64_t next);
/// What `next` is in the checkpoints of a folder, the latest first.
std::vector<int64_t> checkpointsIn(const std::string &folder);
/// Removes what runs have left that were killed while they wrote.
void removeUnfinished(const std::string &folder);
/// A name in the folder for a checkpoint that is being written; `token` is another one in each run.
std::string unfinishedName(int64_t next, const std::string &token);
/// Puts what was found damaged aside, so that it is not taken for a checkpoint again.
void putAside(const std::string &folder, int64_t next);
/// Leaves the latest `count` checkpoints.
void keepLatest(const std::string &folder, size_t count);

/// Reads every `shares`-th file, beginning with number `share`; what is wrong with them. The folder is
/// that of the checkpoint itself.
std::string verify(const std::string &folder, const Manifest &manifest, uint32_t share,
                   uint32_t shares);

/// The elements of a box of a variable, dense, from whichever files have them.
std::string readBox(const std::string &folder, const Manifest &manifest, size_t variable,
                    const movement::Box &box, std::vector<uint8_t> &bytes);

} // namespace ptl::checkpoint
