// Runs that compute times and no values stop where data decide.
#pragma once

#include <string_view>

namespace ptl::rt::sim {

/// The end of the message of such a stop, by which a caller knows that values would help.
inline constexpr std::string_view kTimesAlone = "where only times are wanted";

inline bool lacksValues(std::string_view message) {
  return message.find(kTimesAlone) != message.npos;
}

} // namespace ptl::rt::sim
