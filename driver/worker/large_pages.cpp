// The memory of a process that runs commands lies in large pages from the first allocation on.
// It would need a thousand small ones, and the first access to each costs microseconds.
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

static constexpr uintptr_t kPage = 2 << 20;

/// Lets the heap, of which nothing is in use yet, begin just before a large page, and grow in large
/// steps.
static void useLargePages() {
  constexpr uintptr_t ahead = 32 * kPage;
  mallopt(M_TRIM_THRESHOLD, 1 << 30); // memory is not given back before the end
  mallopt(M_TOP_PAD, ahead);
  mallopt(M_MMAP_THRESHOLD, 16 * kPage);
  auto end = reinterpret_cast<uintptr_t>(::sbrk(0));
  constexpr uintptr_t small = 4096;
  uintptr_t begin = (end + small + kPage - 1) / kPage * kPage;
  ::sbrk(static_cast<intptr_t>(begin - small - end));
  // The first allocation takes `ahead` and a little from the system, and touches the small page
  // only: a large one must not have been touched before it is asked for. The compiler would remove
  // an allocation whose pointer nobody reads.
  void *volatile first = ::malloc(64);
  ::free(first);
  end = reinterpret_cast<uintptr_t>(::sbrk(0)) / kPage * kPage;
  if (begin < end)
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

/// Runs before other static objects are made, of which those of LLVM take a megabyte. The C library
/// passes what `main` gets. A process that answers an editor grows as it needs.
__attribute__((constructor(101))) static void beforeStaticObjects(int argc, char **argv) {
  std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--command" || first == "--commands")
    useLargePages();
}
