#include "codegen/pto/cpp_host_runtime.h"

#include "llvm/ADT/StringRef.h"

namespace ptl::pto {

namespace {

/// The runtime of the device, or memory of this machine in CPU simulation.
constexpr llvm::StringLiteral kStorage =
    R"(// Memory of the device, for one run. Kernels follow each other, so what is given back may be taken
// at once.
class Storage {
public:
  explicit Storage(void *stream) : stream_(stream) {}
  Storage(const Storage &) = delete;
  ~Storage() {
    settle();
    for (const Block &block : blocks_)
      release(block.memory);
  }
  void *take(int64_t bytes) {
    Block *best = nullptr;
    for (Block &block : blocks_)
      if (block.isFree && block.bytes >= bytes && (!best || block.bytes < best->bytes))
        best = &block;
    if (!best) {
      void *memory = allocate(bytes < 1 ? 1 : bytes);
      if (!memory)
        throw std::runtime_error("out of memory");
      best = &blocks_.emplace_back(Block{memory, bytes, true});
    }
    best->isFree = false;
    return best->memory;
  }
  void give(void *memory) {
    for (Block &block : blocks_)
      if (block.memory == memory)
        block.isFree = true;
  }
  // An element as it is when all that was started before is done.
  template <typename T> T read(const void *from, int64_t at) {
    T value;
    wait();
    fetch(&value, (const char *)from + at * (int64_t)sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void write(void *to, int64_t at, T value) {
    wait();
    store((char *)to + at * (int64_t)sizeof(T), &value, sizeof(T));
  }
  template <typename T> std::vector<T> all(const void *from, int64_t count) {
    std::vector<T> values(count);
    wait();
    if (count > 0)
      fetch(values.data(), from, count * sizeof(T));
    return values;
  }
#ifdef __CPU_SIM
  void wait() {}
  void copy(void *to, const void *from, int64_t bytes) { std::memcpy(to, from, bytes); }

private:
  void settle() {}
  static void *allocate(int64_t bytes) { return std::aligned_alloc(512, (bytes + 511) / 512 * 512); }
  static void release(void *block) { std::free(block); }
  static void fetch(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
  static void store(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
#else
  void wait() { expect(aclrtSynchronizeStream(stream_)); }
  void copy(void *to, const void *from, int64_t bytes) {
    expect(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
  }

private:
  static void expect(aclError error) {
    if (error != ACL_SUCCESS)
      throw std::runtime_error("the device's runtime fails: " + std::to_string((int)error));
  }
  void settle() { (void)aclrtSynchronizeStream(stream_); }
  static void *allocate(int64_t bytes) {
    void *block = nullptr;
    return aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ? block : nullptr;
  }
  static void release(void *block) { (void)aclrtFree(block); }
  static void fetch(void *to, const void *from, size_t bytes) {
    expect(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  }
  static void store(void *to, const void *from, size_t bytes) {
    expect(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
#endif
  struct Block {
    void *memory;
    int64_t bytes;
    bool isFree;
  };
  [[maybe_unused]] void *stream_;
  std::vector<Block> blocks_;
};
)";

constexpr llvm::StringLiteral kRequire = R"(
inline void require(bool holds, const char *message) {
  if (!holds)
    throw std::runtime_error(message);
}
template <typename... Values> void require(bool holds, const char *message, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, message, values...);
  if (!holds)
    throw std::runtime_error(text);
}
)";

/// Facts about data; the helpers have these names.
constexpr llvm::StringLiteral kFacts = R"(
template <typename T> bool isSorted(const std::vector<T> &values) {
  return std::is_sorted(values.begin(), values.end());
}
template <typename T> bool isUnique(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}
)";

void addText(TextLines &text, llvm::StringRef lines) {
  for (llvm::StringRef rest = lines; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    text.addFlush(line.str());
    rest = after;
  }
}

} // namespace

void addHostRuntime(TextLines &text, bool facts) {
  addText(text, kStorage);
  addText(text, kRequire);
  if (facts)
    addText(text, kFacts);
}

} // namespace ptl::pto
