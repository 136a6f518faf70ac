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
  // The members that every inspection of a pipe's head reads come first, in one cache line.
  const Function *function = nullptr;
  const Step *step = nullptr;
  double time = 0; ///< the time of issue, and a note, for drivers that keep time
  uint32_t note = 0;
  Flag flag;             ///< with its computed id
  int64_t ordinal = 0;   ///< of pushes, pops, frees: counted per queue and core; of instructions,
                         ///< where rounds are left out: the round of the outermost loop
  uint64_t sequence = 0; ///< order of issue on its core
  /// of a glance: how often it would run in an iteration of the outermost loop
  double times = 1;
  std::array<Operand, kMaxOperands> operands; ///< beyond those of the step, of any operation before
  /// for the beginning of an iteration, and the end of a loop
  SampleAction mark;

  /// The values of the step's operands; none for events and marks.
  std::span<const Operand> values() const {
    return std::span(operands).first(std::min(step->operands.size(), kMaxOperands));
  }
  const SourceLocation &location() const {
    return function->locations[static_cast<size_t>(step->location)];
  }
};

/// Describes an executed operation to traces and timing models. Its pointers are valid only during
/// the call.
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
