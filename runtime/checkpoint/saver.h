// Saves checkpoints in the background: the caller passes a copy of the state, and a thread writes
// it.
#pragma once

#include "runtime/checkpoint/manifest.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ptl::checkpoint {

/// A file of one part: copies of its pieces.
struct FileContents {
  std::string name;
  struct Array {
    std::string name, elem;
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
  };
  std::vector<Array> arrays;
};

/// The part of a checkpoint that this process saves. The process that commits it has the manifest
/// of all files; the processes that write the files report their sizes and checksums.
struct Snapshot {
  Manifest manifest;
  std::vector<FileContents> files; ///< those that this process writes
};

class Saver {
public:
  /// Every process of a run has a saver with the same folder and token. One of them commits.
  Saver(std::string folder, std::string token, bool commits, size_t keep)
      : folder_(std::move(folder)), token_(std::move(token)), commits_(commits), keep_(keep) {}
  /// A checkpoint that still waits for other processes is left unfinished.
  ~Saver();
  Saver(const Saver &) = delete;

  /// Waits until the previous checkpoint has been saved, so that at most one copy is in memory, and
  /// starts to save this one. Returns why the previous one has failed, or an empty text.
  std::string begin(Snapshot snapshot);
  /// Why saving has failed so far; empty if it has not failed.
  std::string failure();
  /// Waits until everything is saved, and returns the same as `failure`.
  std::string finish();

private:
  void work(const Snapshot &snapshot);
  std::string save(const Snapshot &snapshot);
  std::string commit(Manifest manifest, const std::string &place);
  std::string awaitFile(const std::string &place, File &file);

  std::string folder_, token_;
  bool commits_;
  size_t keep_;
  std::thread thread_;
  std::mutex mutex_;
  std::string why_;
  std::atomic<bool> leaves_ = false;
};

} // namespace ptl::checkpoint
