// Operations that wait for a pipe, in order: a ring buffer that keeps its storage, since operations
// are large and there are millions of them.
#pragma once

#include "runtime/sim/issued.h"

#include <vector>

namespace ptl::rt::sim {

class IssueQueue {
public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  Issued &operator[](size_t i) { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  const Issued &operator[](size_t i) const { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  Issued &front() { return (*this)[0]; }
  const Issued &front() const { return (*this)[0]; }

  /// Appends an operation, to be filled in: its members are left over from an earlier operation.
  Issued &append() {
    if (size_ == ring_.size())
      grow();
    Issued &added = (*this)[size_++];
    fetch((*this)[size_]);
    return added;
  }
  void pop() {
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
    fetch(front());
  }

private:
  /// Prefetches the parts of an operation that are needed soon: itself, and two or three operands.
  /// The rings of all pipes of all cores together do not fit in a cache.
  static void fetch(const Issued &issued) {
    constexpr size_t line = 64, most = 7;
    for (size_t i = 0; i < most; ++i)
      __builtin_prefetch(reinterpret_cast<const char *>(&issued) + i * line);
  }
  void grow() {
    std::vector<Issued> larger(ring_.empty() ? 8 : 2 * ring_.size());
    for (size_t i = 0; i < size_; ++i)
      larger[i] = (*this)[i];
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Issued> ring_; ///< its size is a power of two
  size_t first_ = 0, size_ = 0;
};

} // namespace ptl::rt::sim
