// Side effects of the library's instructions on events (`inside.def`).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ptl {

/// An event that an instruction itself sets and waits for; pipes are given by their names.
struct InsideEvent {
  std::string_view from, to; ///< empty: no event
};

/// One row; pipes are given by their names.
struct InsideInstruction {
  static constexpr size_t kMostEvents = 2;

  std::string_view isaMacro, name; ///< the macro of the machine, the instruction
  std::string_view pipe;           ///< the row is about its form on this pipe
  std::string_view scratchPipe;    ///< fills its scratch before it starts; empty: none does
  int64_t id;                      ///< of its events
  bool always; ///< false: only in some of its forms, so that the events guarantee no order
  std::array<InsideEvent, kMostEvents> events; ///< in the order in which they take place

  /// Whether the setter of this event has waited inside the instruction for the pipe that waits for
  /// it. Earlier events of these pipes are then over if their waits stand before the instruction.
  constexpr bool isGuarded(size_t event) const {
    for (size_t i = 0; i < event; ++i)
      if (events[i].from == events[event].to && events[i].to == events[event].from)
        return true;
    return false;
  }
};

inline constexpr InsideInstruction insideInstructions[] = {
#define INSIDE(isaMacro, name, pipe, scratch, id, always, ...)                                     \
  {isaMacro, name, pipe, scratch, id, always, {{__VA_ARGS__}}},
#include "machines/inside.def"
};

/// The side effects of an instruction of a machine's library on one of its pipes; null if there are
/// none.
inline constexpr const InsideInstruction *
insideOf(std::string_view isaMacro, std::string_view instruction, std::string_view pipe) {
  for (const InsideInstruction &each : insideInstructions)
    if (each.isaMacro == isaMacro && each.name == instruction && each.pipe == pipe)
      return &each;
  return nullptr;
}

} // namespace ptl
