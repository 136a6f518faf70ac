// How far computed functions are from exact ones, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace ptl::cpu::testing {

/// The distance from the number of `T` nearest to `expected`, in units of its last place; 1e9 for what
/// is no rounding error. `Wide` has bits to spare (for `double` only where `long double` has).
template <typename T, typename Wide> double ulpError(T got, Wide expected) {
  using Limits = std::numeric_limits<T>;
  auto nearest = static_cast<T>(expected);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) == std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (got == nearest)
      return 0;
    // The largest number may stand for infinity, and infinity for the largest two.
    T most = Limits::max();
    bool close = std::isinf(nearest) ? std::abs(got) == most
                                     : std::abs(nearest) >= std::nextafter(most, T(0));
    return close && std::signbit(got) == std::signbit(nearest) ? 1 : 1e9;
  }
  if (expected == 0 && got == 0)
    return std::signbit(nearest) == std::signbit(got) ? 0 : 1e9;
  // Denormal numbers have the last place of the smallest normal one.
  int exponent =
      std::max(std::ilogb(nearest == 0 ? Limits::denorm_min() : nearest), Limits::min_exponent - 1);
  return static_cast<double>(std::abs(got - expected) /
                             std::ldexp(Wide(1), exponent - (Limits::digits - 1)));
}

} // namespace ptl::cpu::testing
