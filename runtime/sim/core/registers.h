// The registers of a core's scalar unit.
#pragma once

#include "runtime/sim/program.h"

#include <span>
#include <utility>
#include <vector>

namespace ptl::rt::sim {

/// The values of a function's registers. Values that decide what happens next must be known. A read
/// of an unknown value is recorded, and whoever runs the step queries that record afterwards, so
/// that the functions that read need no error path of their own.
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
  /// All scalars; their addresses are stable during the lifetime of the core.
  std::span<const Scalar> scalars() const { return scalars_; }

  /// An address, a length or a number. An unknown value is recorded, because the core's next action
  /// depends on it.
  int64_t integer(const Step &step, size_t operand) const {
    const Scalar &value = scalar(step.operands[operand]);
    if (!value.isKnown)
      needed_ = &value;
    return value.i;
  }
  /// A position in global memory. A position that depends on missing data counts as 0, and the view
  /// is marked as being somewhere: times do not depend on the position.
  int64_t position(const Step &step, size_t operand, View &view) const {
    const Scalar &value = scalar(step.operands[operand]);
    view.isSomewhere |= !value.isKnown;
    return value.isKnown ? value.i : 0;
  }
  /// The last unknown value that `integer` has recorded since the previous call; null if all were
  /// known.
  const Scalar *takeNeeded() { return std::exchange(needed_, nullptr); }

private:
  std::vector<Scalar> scalars_;
  std::vector<Tile> tiles_;
  std::vector<View> views_;
  mutable const Scalar *needed_ = nullptr;
};

} // namespace ptl::rt::sim
