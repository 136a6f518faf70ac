// Rounding of conversions: the `round:` argument, as a table of spellings.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptl {

enum class RoundMode : uint8_t {
  Even, ///< to nearest, ties to even
  Away, ///< to nearest, ties away from zero
  Zero, ///< toward zero
  Down, ///< toward minus infinity
  Up,   ///< toward plus infinity
};

inline constexpr std::array<std::string_view, 5> roundModeNames = {"even", "away", "zero", "down",
                                                                   "up"};

constexpr std::optional<RoundMode> roundModeByName(std::string_view name) {
  for (size_t i = 0; i < roundModeNames.size(); ++i)
    if (roundModeNames[i] == name)
      return static_cast<RoundMode>(i);
  return std::nullopt;
}

} // namespace ptl
