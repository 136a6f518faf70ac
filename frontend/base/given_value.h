// Values that people give to dimensions, tunables, constants and element types outside of the source:
// `-D NAME=VALUE`, the settings of editors, the calls of agents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptl {

/// The number that a value is: a whole number, or 1 and 0 for `true` and `false`. Nothing for any other
/// text, also for one that only begins with a number.
std::optional<int64_t> givenNumber(std::string_view value);

/// What is wrong with a value, or with values between commas: each is a number or the name of an element
/// type. Empty if nothing is. What the name stands for decides which of the two it has to be.
std::string givenProblem(std::string_view values);

} // namespace ptl
