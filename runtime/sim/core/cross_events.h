// The cross-core events, as one core counts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptl::rt::sim {

/// The maximal number of cross-core event ids; chips may have fewer.
inline constexpr size_t kMaxCrossFlags = 32;

/// For each cross-core event: the number of waits that the core has issued, of waits that have
/// ended, and of signals that it has sent. Events are counters, so the n-th wait is for the n-th
/// signal.
struct CrossEvents {
  using Counts = std::array<int64_t, kMaxCrossFlags>;
  Counts issued = {}, awaited = {}, sent = {};
};

} // namespace ptl::rt::sim
