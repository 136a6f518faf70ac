// The registers of a core's scalar unit.
#pragma once

#include "runtime/sim/program.h"

#include <span>
#include <utility>
#include <vector>

namespace ptl::rt::sim {

/// The values of a function's registers. What a step reads of them to decide what happens next has
/// to be known; a read of a value that is not known is noted, and whoever runs the step asks for
/// the note afterwards. So the functions that read need no way out of their own.
class Registers {
public:
  explicit Registers(const Function &function)
      : scalars_(static_cast<size_t>(function.numScalars)),
        tiles_(static_cast<size_t>(function.numTiles)),
        views_(static_cast<size_t>(function.numViews)) {}

  Scalar &scalar(Register r) { return scalars_[static_cast<size_t>(r.index)]; }
  const Scalar &scalar(Register r) const { return scalars_[static_cast<size_t>(r.index)]; }
  Tile &tile(Register r) { return tiles_[static_cast<size_t>(r.index)]; }
  View &view(Register r) { return views_[static_cast<size_t>(r.index)]; }
  /// All scalars; they stay where they are as long as the core lives.
  std::span<const Scalar> scalars() const { return scalars_; }

  /// An address, a length or a number. A value that is not known is noted, because what the core
  /// does next depends on it.
  int64_t integer(const Step &step, size_t operand) const {
    const Scalar &value = scalar(step.operands[operand]);
    if (!value.isKnown)
      needed_ = &value;
    return value.i;
  }
  /// A position in global memory. A position that depends on data that is not there counts as 0,
  /// and the view notes that it lies somewhere: times do not depend on where.
  int64_t position(const Step &step, size_t operand, View &view) const {
    const Scalar &value = scalar(step.operands[operand]);
    view.isSomewhere |= !value.isKnown;
    return value.isKnown ? value.i : 0;
  }
  /// The last value that `integer` noted since this was asked; null if all were known.
  const Scalar *takeNeeded() { return std::exchange(needed_, nullptr); }

private:
  std::vector<Scalar> scalars_;
  std::vector<Tile> tiles_;
  std::vector<View> views_;
  mutable const Scalar *needed_ = nullptr;
};

} // namespace ptl::rt::sim
