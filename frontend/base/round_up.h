// Rounding up to whole units.
#pragma once

#include <cstdint>

namespace ptl {

/// How many units of `unit` (at least 1) cover `size` (at least 0): the quotient, rounded up.
constexpr int64_t countCovering(int64_t size, int64_t unit) { return (size + unit - 1) / unit; }

/// `size` (at least 0), rounded up to a multiple of `unit` (at least 1).
constexpr int64_t roundUp(int64_t size, int64_t unit) { return countCovering(size, unit) * unit; }

} // namespace ptl
