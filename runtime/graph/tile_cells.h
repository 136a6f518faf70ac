#pragma once

#include "runtime/graph/region.h"

#include <vector>

namespace ptl::rt {

/// A task as the histories identify it: a slot, which holds one task after another, and a sequence
/// number from 1, which increases with each submission.
struct TaskRef {
  uint64_t sequence = 0;
  uint32_t slot = 0;

  friend bool operator==(const TaskRef &, const TaskRef &) = default;
};

/// Finds the tiles of one grid of a storage by their position. Two tiles are either the same box or
/// disjoint, so an access to a tile can only conflict with accesses to the same tile.
class TileCells {
public:
  static constexpr uint32_t none = ~0u;
  struct Cell {
    TaskRef writer;              ///< the last writer; sequence number 0: none
    uint32_t firstReader = none; ///< the first reader since then, in the list of the cells' owner
  };

  /// Removes everything, including the grid.
  void clear(size_t rank);

  size_t size() const { return cells_.size(); }
  Cell &operator[](uint32_t cell) { return cells_[cell]; }
  const Cell &operator[](uint32_t cell) const { return cells_[cell]; }
  Box box(uint32_t cell) const { return {axes_.data() + size_t(cell) * rank_, rank_}; }

  /// The cell of this box, if there is one.
  uint32_t find(Box box) const;
  /// The cell of this box, which is added if the box is a tile of the grid. The first box
  /// determines the grid.
  uint32_t findOrAdd(Box box);
  /// Whether a box can be a tile, so that it may determine a grid.
  static bool isTile(Box box);

  /// Keeps the cells for which `keep(Cell &)` holds, and renumbers them.
  template <class Keep> void retain(Keep keep) {
    uint32_t kept = 0;
    for (uint32_t cell = 0; cell < cells_.size(); ++cell)
      if (keep(cells_[cell]))
        move(cell, kept++);
    truncate(kept);
  }

private:
  bool onGrid(Box box) const;
  static uint64_t hashOf(Box box);
  size_t placeOf(Box box) const;
  void move(uint32_t from, uint32_t to);
  void truncate(uint32_t size);
  void rehash(size_t capacity);

  size_t rank_ = 0;
  std::vector<Cell> cells_;
  std::vector<Axis> axes_;
  std::vector<int64_t> tile_;
  std::vector<uint32_t> places_; ///< hash table (open addressing) by the starts of a box
};

} // namespace ptl::rt
