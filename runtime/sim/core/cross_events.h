// The events between the cores of a group, as one core counts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptl::rt::sim {

/// The number of events between cores that can be named; chips may have fewer.
inline constexpr size_t kMaxCrossFlags = 32;

/// For each event between cores: the waits that the core has issued, the waits that are over, and
/// the signals that it has sent. Events are counted, so that the n-th wait is for the n-th signal.
struct CrossEvents {
  using Counts = std::array<int64_t, kMaxCrossFlags>;
  Counts issued = {}, awaited = {}, sent = {};
};

} // namespace ptl::rt::sim
