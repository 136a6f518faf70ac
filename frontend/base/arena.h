// Allocates memory in large steps, and frees it all at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptl {

/// Objects keep their addresses during the lifetime of the arena. At its end, objects with
/// destructors are destroyed in reverse order.
class Arena {
public:
  Arena() = default;
  ~Arena() {
    for (auto at = owned_.rbegin(); at != owned_.rend(); ++at)
      at->destroy(at->object);
  }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  template <typename T, typename... Args> T *make(Args &&...args) {
    static_assert(alignof(T) <= alignment);
    T *object = new (allocate(sizeof(T))) T(std::forward<Args>(args)...);
    if constexpr (!std::is_trivially_destructible_v<T>)
      owned_.push_back({object, [](void *self) { static_cast<T *>(self)->~T(); }});
    return object;
  }
  template <typename T> std::span<const T> copy(std::span<const T> values) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignment);
    T *first = static_cast<T *>(allocate(values.size_bytes()));
    std::uninitialized_copy(values.begin(), values.end(), first);
    return {first, values.size()};
  }

private:
  struct Owned {
    void *object;
    void (*destroy)(void *);
  };
  static constexpr size_t alignment = 8;
  static constexpr size_t leastStep = 1 << 11, greatestStep = 1 << 17;

  void *allocate(size_t size) {
    size = (size + alignment - 1) / alignment * alignment;
    if (size > left_) {
      // Growing by a quarter of the total bounds the unused share.
      left_ = std::max(std::clamp(total_ / 4, leastStep, greatestStep), size);
      total_ += left_;
      chunks_.emplace_back(new std::byte[left_]);
      next_ = chunks_.back().get();
    }
    void *result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<Owned> owned_;
  std::byte *next_ = nullptr;
  size_t left_ = 0, total_ = 0;
};

} // namespace ptl
