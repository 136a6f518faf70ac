// Saves checkpoints while the run goes on. What is saved was copied before; a thread writes it.
#pragma once

#include "runtime/checkpoint/manifest.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ptl::checkpoint {

/// A file as one part writes it: the copies of its pieces.
struct FileContents {
  std::string name;
  struct Array {
    std::string name, elem;
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
  };
  std::vector<Array> arrays;
};

/// What this process saves of a checkpoint. Who commits it has the manifest of all files, whose sizes
/// and checksums come from who writes them.
struct Snapshot {
  Manifest manifest;
  std::vector<FileContents> files; ///< those that this process writes
};

class Saver {
public:
  /// Every process of a run has one, with the same folder and token, and one of them commits.
  Saver(std::string folder, std::string token, bool commits, size_t keep)
      : folder_(std::move(folder)), token_(std::move(token)), commits_(commits), keep_(keep) {}
  /// Leaves a checkpoint unfinished that waits for others.
  ~Saver();
  Saver(const Saver &) = delete;

  /// Begins to save as soon as what was begun before is done: one copy at a time is in memory.
  /// The reason if that has failed.
  std::string begin(Snapshot snapshot);
  /// Why what was begun has failed so far.
  std::string failure();
  /// Waits for it, and gives the same.
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
