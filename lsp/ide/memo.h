// Caches answers about an object that never changes: one answer of each type, computed on first
// use. It is not safe for several threads.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace ptl::ide {

class Memo {
public:
  /// The answer of type `T`; `make` computes it at the first call.
  template <typename T, typename Make> const T &get(Make make) const {
    for (const auto &[key, value] : entries_)
      if (key == &keyOf<T>)
        return *static_cast<const T *>(value.get());
    auto value = std::make_shared<const T>(make());
    entries_.emplace_back(&keyOf<T>, value);
    return *value;
  }

private:
  /// The key of a type is the address of its instance of this variable.
  template <typename T> static constexpr char keyOf = 0;

  mutable std::vector<std::pair<const void *, std::shared_ptr<const void>>> entries_;
};

} // namespace ptl::ide
