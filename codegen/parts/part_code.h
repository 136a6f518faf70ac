// What computes stretches of parts by other means than the reference executor.
#pragma once

#include "codegen/reference/value.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::parts {

/// What the reference executor needs for a stretch, in nanoseconds, from which on it is worth the time to compile it: that is what
/// compiling a short program takes at most. It is compared with an estimate from sizes alone, so all runs compute alike.
inline constexpr double kWorthCompiling = 6e7;

/// Whoever runs a program on parts may give one.
class PartCode {
public:
  explicit PartCode(double worth = kWorthCompiling) : worth(worth) {}
  virtual ~PartCode() = default;
  /// The results of the last program of a text (`sourceOf`). Nothing if it cannot compute them, or if the program stops: then the
  /// reference executor does it, and says what is wrong and where.
  virtual std::optional<std::vector<reference::Value>>
  compute(const std::string &text, const std::vector<reference::Value> &inputs) = 0;

  /// Stretches that the reference executor computes in less time are left to it.
  const double worth;
};

} // namespace ptl::parts
