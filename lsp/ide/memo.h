// What has been found out about something that never changes: each kind of answer once, on first
// use. Not for several threads.
#pragma once

#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

namespace ptl::ide {

class Memo {
public:
  /// The answer of type `T`, which `make` computes when it is asked for the first time.
  template <typename T, typename Make> const T &get(Make make) const {
    for (const auto &[type, value] : entries_)
      if (type == std::type_index(typeid(T)))
        return *static_cast<const T *>(value.get());
    auto value = std::make_shared<const T>(make());
    entries_.emplace_back(std::type_index(typeid(T)), value);
    return *value;
  }

private:
  mutable std::vector<std::pair<std::type_index, std::shared_ptr<const void>>> entries_;
};

} // namespace ptl::ide
