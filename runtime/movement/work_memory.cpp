#include "runtime/movement/work_memory.h"

#include <algorithm>
#include <new>
#include <sys/mman.h>

namespace ptl::movement {

namespace {

constexpr size_t kLine = 64, kSmallPage = 4096, kLargePage = 2 << 20;
constexpr size_t kLeastBlock = 64 << 10;
/// Blocks of this size and more have large pages.
constexpr size_t kLeastLarge = 1 << 20;
/// More than this is not kept.
constexpr size_t kMostKept = 64 << 20;
/// Pieces do not begin at the same place of their pages: reads of one would wait for writes of another.
constexpr size_t kShift = 11 * kLine, kShifts = 8;

size_t roundedUp(size_t size, size_t to) { return (size + to - 1) / to * to; }

} // namespace

WorkMemory::~WorkMemory() {
  for (const Block &block : blocks_)
    ::munmap(block.memory, block.size);
}

WorkMemory::Block WorkMemory::made(size_t bytes) {
  bool isLarge = bytes >= kLeastLarge;
  size_t size = roundedUp(std::max(bytes, kLeastBlock), isLarge ? kLargePage : kSmallPage);
  size_t before = isLarge ? kLargePage - kSmallPage : 0;
  void *memory =
      ::mmap(nullptr, size + before, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  auto *begin = static_cast<uint8_t *>(memory);
  if (!isLarge)
    return {begin, size, 0};
  // Large pages begin where their size says; what lies around them goes back.
  size_t skipped = roundedUp(reinterpret_cast<uintptr_t>(begin), kLargePage) -
                   reinterpret_cast<uintptr_t>(begin);
  if (skipped > 0)
    ::munmap(begin, skipped);
  if (before > skipped)
    ::munmap(begin + skipped + size, before - skipped);
  ::madvise(begin + skipped, size, MADV_HUGEPAGE);
  return {begin + skipped, size, 0};
}

uint8_t *WorkMemory::take(size_t bytes) {
  size_t shift = taken_++ % kShifts * kShift;
  size_t needed = roundedUp(bytes, kLine) + shift;
  auto has = [needed](const Block &block) { return block.size - block.used >= needed; };
  auto block = std::ranges::find_if(blocks_, has);
  if (block == blocks_.end())
    block = blocks_.insert(block, made(needed));
  uint8_t *piece = block->memory + block->used + shift;
  block->used += needed;
  return piece;
}

void WorkMemory::release() {
  taken_ = 0;
  size_t kept = 0;
  std::erase_if(blocks_, [&](Block &block) {
    block.used = 0;
    bool isKept = kept + block.size <= kMostKept;
    if (isKept)
      kept += block.size;
    else
      ::munmap(block.memory, block.size);
    return !isKept;
  });
}

} // namespace ptl::movement
