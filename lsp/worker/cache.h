// Compiled declarations, keyed by their contents, least recently used first.
#pragma once

#include "lsp/worker/code.h"

#include <list>

namespace ptl::worker {

class Cache {
public:
  explicit Cache(size_t capacity) : capacity_(capacity) {}

  /// The entry, which becomes the most recently used one; null if there is none.
  Code *find(const std::string &key);
  Code *add(std::string key, std::unique_ptr<Code> code);
  void remove(const Code *code);
  /// Evicts what exceeds the limits, least recently used first: first the inputs of further stages,
  /// then texts.
  void trim();

  size_t size() const { return entries_.size(); }
  size_t bytes() const;
  size_t liveCount() const;
  uint64_t hits = 0, misses = 0;

private:
  /// The number of entries that keep the inputs of further stages.
  static constexpr size_t kLive = 6;
  static constexpr size_t kEntries = 256;

  struct Entry {
    std::string key;
    std::unique_ptr<Code> code;
  };
  size_t capacity_;
  std::list<Entry> entries_;
};

} // namespace ptl::worker
