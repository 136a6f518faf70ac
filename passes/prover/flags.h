// The events between the pipes of a core while an execution is ordered (`order.cpp`).
#pragma once

#include "passes/prover/order.h"

#include <algorithm>
#include <vector>

namespace ptl::prove {

/// The event of a number between two pipes of a core: all signals of an execution so far.
struct Flag {
  struct Signal {
    Moment done;
    uint32_t event;         ///< the one that set it
    uint32_t waitIndex = 0; ///< which event of its pipe waited for it, from 1; 0: none so far
  };
  std::vector<Signal> signals;
  size_t waits = 0;
  uint32_t total = 0; ///< sets in the whole execution
};

/// The flags that a core uses, which are few. A reference holds until a new number is asked for.
class Flags {
public:
  Flag &operator[](uint16_t number) {
    for (auto &[own, flag] : all_)
      if (own == number)
        return flag;
    return all_.emplace_back(number, Flag()).second;
  }
  /// By their numbers.
  const std::vector<std::pair<uint16_t, Flag>> &sorted() {
    std::sort(all_.begin(), all_.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    return all_;
  }

private:
  std::vector<std::pair<uint16_t, Flag>> all_;
};

} // namespace ptl::prove
