// Vectors that grow to hundreds of megabytes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ptl::rt::sim {

/// Takes large blocks in whole large pages, where the system has such: the first write to each small
/// page of fresh memory is a call of the kernel, and was most of what it took to record a long run.
template <typename T> struct LargeBlocks {
  using value_type = T;

  LargeBlocks() = default;
  template <typename Other> LargeBlocks(const LargeBlocks<Other> &) {}

  T *allocate(size_t count) {
    size_t bytes = count * sizeof(T);
    if (bytes < kPage)
      return std::allocator<T>().allocate(count);
    size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void *block = std::aligned_alloc(kPage, whole);
    if (!block)
      throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    // Without large pages the block has small ones, and all is as before.
    (void)madvise(block, whole, MADV_HUGEPAGE);
#endif
    return static_cast<T *>(block);
  }

  void deallocate(T *block, size_t count) {
    if (count * sizeof(T) < kPage)
      std::allocator<T>().deallocate(block, count);
    else
      std::free(block);
  }

  template <typename Other> bool operator==(const LargeBlocks<Other> &) const { return true; }

private:
  static constexpr size_t kPage = size_t(1) << 21;
};

template <typename T> using LargeVector = std::vector<T, LargeBlocks<T>>;

} // namespace ptl::rt::sim
