// `operator new` of the server: small objects come from lists of free ones, by size and thread.
//
// A key makes and drops some thousand small objects: trees, checked declarations, JSON. The C library
// looks for neighbours to merge with as soon as more than a few of one size are free, which is a
// sixth of the time of a key. Here nothing is merged: an object that is dropped waits for the next
// of its size. Objects have no headers, so more of them fit into the caches of the processor.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

// Sanitizers have to see each object.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

constexpr size_t kStep = 16, kLargest = 1024; // sizes are multiples of the one, up to the other
constexpr size_t kPage = size_t(1) << 16;     // bytes with objects of one size
constexpr size_t kPages = size_t(1) << 18;    // which can be in use: 16 GiB

struct Free {
  Free *next;
};

/// Addresses for all pages, of which the system gives memory when they are first written to.
std::byte *reserve() {
  void *memory = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte *>(memory);
}

/// Where they begin; null where the system refuses so many, and then the C library has all objects.
/// Objects are made before any variable of another file is, so this is one of a function.
std::byte *firstPage() {
  static std::byte *const first = reserve();
  return first;
}

std::atomic<size_t> pagesInUse{0};
uint8_t sizeOfPage[kPages]; ///< in steps; written before an object of the page is known to anybody

/// A thread's free objects of one size, and what is left of its page.
struct Size {
  Free *free;
  std::byte *next, *end;
};
thread_local constinit Size sizes[kLargest / kStep + 1] = {};

/// A new page; false where all are in use.
bool takePage(Size &size, size_t steps) {
  std::byte *first = firstPage();
  if (!first || pagesInUse.load(std::memory_order_relaxed) >= kPages)
    return false;
  size_t page = pagesInUse.fetch_add(1, std::memory_order_relaxed);
  if (page >= kPages)
    return false;
  sizeOfPage[page] = static_cast<uint8_t>(steps);
  size.next = first + page * kPage;
  size.end = size.next + kPage;
  return true;
}

void *fromSystem(size_t bytes) {
  for (;;) {
    if (void *memory = std::malloc(bytes ? bytes : 1))
      return memory;
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

} // namespace

void *operator new(size_t bytes) {
  size_t steps = (bytes + kStep - 1) / kStep;
  if (steps - 1 >= kLargest / kStep)
    return fromSystem(bytes);
  Size &size = sizes[steps];
  if (Free *object = size.free) {
    size.free = object->next;
    return object;
  }
  if (static_cast<size_t>(size.end - size.next) < steps * kStep && !takePage(size, steps))
    return fromSystem(bytes);
  void *object = size.next;
  size.next += steps * kStep;
  return object;
}

void operator delete(void *object) noexcept {
  size_t at = static_cast<size_t>(static_cast<std::byte *>(object) - firstPage());
  if (at >= kPages * kPage || !firstPage())
    return std::free(object);
  // The thread that drops an object has it from now on.
  Size &size = sizes[sizeOfPage[at / kPage]];
  auto *dropped = static_cast<Free *>(object);
  dropped->next = size.free;
  size.free = dropped;
}

void operator delete(void *object, size_t) noexcept { operator delete(object); }

#endif
