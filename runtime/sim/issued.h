// An operation in a pipe: its step with the values that its operands had when the scalar unit
// issued it.
#pragma once

#include "runtime/sim/sampling.h"

#include <algorithm>
#include <array>
#include <span>
#include <variant>

namespace ptl::rt::sim {

using Operand = std::variant<Scalar, Tile, View>;
inline constexpr size_t kMaxOperands = 7;

struct Issued {
  // What every look at the head of a pipe reads comes first, in one line of the cache.
  const Function *function = nullptr;
  const Step *step = nullptr;
  double time = 0; ///< when it was issued, and a note, for drivers that keep time
  uint32_t note = 0;
  Flag flag;             ///< with the id computed
  int64_t ordinal = 0;   ///< of pushes, pops, frees: counted per queue and core; of instructions,
                         ///< where rounds are left out: the round of the outermost loop
  uint64_t sequence = 0; ///< order of issue on its core
  double times = 1;      ///< of a glance: that it would run in a round of the outermost loop
  std::array<Operand, kMaxOperands> operands; ///< beyond those of the step, of any operation before
  SampleAction mark;                          ///< of a beginning of a round, and the end of a loop

  /// The values of the step's operands; none of an event and of a mark.
  std::span<const Operand> values() const {
    return std::span(operands).first(std::min(step->operands.size(), kMaxOperands));
  }
  const SourceLocation &location() const {
    return function->locations[static_cast<size_t>(step->location)];
  }
};

/// Describes an executed operation to traces and timing models. Its pointers are valid during the
/// call.
struct TraceEvent {
  int64_t block = 0;
  int32_t core = 0; ///< of the group; the cube core is first if there is one
  bool cube = false;
  int32_t subBlock = 0; ///< of vector cores
  Pipe pipe = Pipe::S;
  const Issued *issued = nullptr;
};

/// An array in global memory.
struct GlobalArray {
  uint8_t *data = nullptr;
  int64_t bytes = 0;
  std::string name;
};

} // namespace ptl::rt::sim
