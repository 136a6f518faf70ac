// What a rank of a group sends of its block, and where what it gets belongs.
#pragma once

#include "codegen/parts/elements.h"
#include "codegen/parts/fold.h"
#include "codegen/parts/grid.h"
#include "runtime/movement/run_rank.h"

namespace ptl::parts {

/// The box of what a rank of a group gets.
inline const movement::Box &givenTo(const GroupMove &group, size_t rank,
                                    const movement::Box &whole) {
  return group.given.empty() ? whole : group.given[rank];
}

/// What a rank of a group sends of its block `have`, which is `box`.
inline reference::Value takenBy(const GroupMove &group, size_t rank, const reference::Value &have,
                                const movement::Box &box) {
  return group.taken.empty() || have.isNone() ? have : sliceOf(have, box, group.taken[rank]);
}

/// Puts what a rank of a group got in its place in the block `to`, which is `whole`.
inline void give(const GroupMove &group, size_t rank, const movement::Box &whole,
                 reference::Value moved, reference::Value &to) {
  if (givenTo(group, rank, whole) == whole)
    to = std::move(moved);
  else
    putIn(to, whole, group.given[rank], moved);
}

inline movement::CombineBytes combining(Fold fold, ElemKind elem) {
  return [fold, elem](uint8_t *to, const uint8_t *from, int64_t count, bool fromFirst) {
    foldAll(fold, elem, to, from, count, fromFirst);
  };
}

inline std::string waitsFor(const Grid &grid, uint32_t me, uint32_t part) {
  return grid.name(me) + " waits for " + grid.name(part) + ", which sends nothing";
}

} // namespace ptl::parts
