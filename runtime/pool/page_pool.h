// A cache of pages of bytes by key, in files that several processes share. The least recently used pages are
// evicted first. A key determines the content of its page, so losing a page costs time and nothing else.
#pragma once

#include "runtime/pool/page_index.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ptl::pool {

/// The sizes of a pool, which are fixed when its folder is made.
struct PoolShape {
  uint32_t pageBytes = 0;
  uint32_t slots = 0; ///< the number of pages that fit
  uint32_t slotsPerSegment = 1024;
  bool operator==(const PoolShape &) const = default;
};

struct PoolCounts {
  uint64_t hits = 0, misses = 0, kept = 0, evicted = 0, damaged = 0;
};

/// One record of the log.
struct LogRecord;

class PagePool {
public:
  /// Opens the pool in a folder, which is created if necessary. Null, with the reason, after a
  /// failure.
  static std::unique_ptr<PagePool> open(const std::string &folder, PoolShape shape,
                                        std::string &why);
  ~PagePool();
  PagePool(const PagePool &) = delete;

  /// Stores a page. After true all processes can read it, even if this one is killed. False if its parent is
  /// missing, if only its own ancestors could be evicted to make room, or if files cannot be written.
  bool put(Key key, Key parent, std::span<const uint8_t> page);
  /// Reads a page; false if it is missing or damaged.
  bool get(Key key, std::span<uint8_t> page);
  /// Records that the page was used elsewhere; false if it is missing.
  bool use(Key key);
  /// The number of keys at the beginning of the list whose pages are stored. The last of these counts as used.
  size_t longestPrefix(std::span<const Key> keys);
  /// The keys of all stored pages, the most recently used first.
  std::vector<Key> keys();
  const PoolCounts &counts() const { return counts_; }

private:
  class Turn;

  PagePool(std::string folder, PoolShape shape) : folder_(std::move(folder)), shape_(shape) {}
  bool catchUp();
  bool openLog();
  void forget();
  void replay();
  void apply(const LogRecord &record);
  bool append(LogRecord record);
  bool compact();
  bool drop(Key key);
  bool makeRoom(Key parent);
  int segment(uint32_t slot);
  bool transfer(uint32_t slot, uint8_t *to, const uint8_t *from);
  uint32_t checksumOf(Key key, std::span<const uint8_t> page) const;

  std::string folder_;
  PoolShape shape_;
  std::mutex mutex_;
  int lock_ = -1, log_ = -1;
  uint64_t logEnd_ = 0; ///< the position up to which the log has been read
  PageIndex index_;
  std::vector<int> segments_;
  PoolCounts counts_;
};

} // namespace ptl::pool
