// The statuses of failed checks by the names that IR gives them.
#pragma once

#include "runtime/include/ptl.h"

#include <cstdint>
#include <string_view>

namespace ptl::rt {

/// `assert`, `bounds`, `where`, `data_fact`, `arithmetic`; any other name counts as `assert`.
constexpr int32_t statusOfCheck(std::string_view name) {
  if (name == "bounds")
    return PTL_ERROR_BOUNDS;
  if (name == "where")
    return PTL_ERROR_WHERE;
  if (name == "data_fact")
    return PTL_ERROR_DATA_FACT;
  return name == "arithmetic" ? PTL_ERROR_ARITHMETIC : PTL_ERROR_ASSERT;
}

} // namespace ptl::rt
