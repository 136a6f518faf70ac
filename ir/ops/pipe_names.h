// Pipes by their names in the machine files. Uses only the standard library.
#pragma once

#include "ir/ops/instruction_table.h"

namespace ptl {

/// The pipe of that name; `All` if there is none.
inline constexpr Pipe pipeNamed(std::string_view name) {
  for (size_t i = 0; i < kNumPipes; ++i)
    if (pipeNames[i] == name)
      return static_cast<Pipe>(i);
  return Pipe::All;
}

} // namespace ptl
