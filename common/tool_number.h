// Numbers on the command lines of our own tools: benchmarks, and programs that test.
#pragma once

#include "common/read_number.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ptl {

/// The number that `text` is; `double`s may have a fraction. Any other text ends the tool, which names
/// it and `what` it was given for: a run with half of a number would be taken for the one that was meant.
template <typename T> T toolNumber(std::string_view what, std::string_view text) {
  if (std::optional<T> number = integerIn<T>(text))
    return *number;
  std::fprintf(stderr, "%s %s: a number is expected\n", std::string(what).c_str(),
               std::string(text).c_str());
  std::exit(2);
}

} // namespace ptl
