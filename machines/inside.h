// Side effects of the library's instructions on events (`inside.def`).
#pragma once

#include <cstdint>
#include <string_view>

namespace ptl {

/// One row; pipes are given by their names.
struct InsideInstruction {
  std::string_view isaMacro, name; ///< the macro of the machine, the instruction
  std::string_view scratchPipe;    ///< fills its scratch before it starts; empty: none does
  std::string_view from, to;       ///< the event that the instruction itself sets and waits for
  int64_t id;
  bool always; ///< false: only in some of its forms, so that the event guarantees no order
};

inline constexpr InsideInstruction insideInstructions[] = {
#define INSIDE(isaMacro, name, scratch, from, to, id, always)                                      \
  {isaMacro, name, scratch, from, to, id, always},
#include "machines/inside.def"
};

/// The side effects of an instruction of a machine's library; null if there are none.
inline constexpr const InsideInstruction *insideOf(std::string_view isaMacro,
                                                   std::string_view instruction) {
  for (const InsideInstruction &each : insideInstructions)
    if (each.isaMacro == isaMacro && each.name == instruction)
      return &each;
  return nullptr;
}

} // namespace ptl
