// The records of movements, `movements.def`. A movement is not an operation on values: an executor
// of one part has nothing to compute for it, moves elements along an axis, or calls the function of the library that defines what
// happens to rows. So it has no class in the IR and no record in `op_table.h`.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace ptl {

/// The placement of an array over the parts of one level.
enum class PlacementKind : uint8_t {
  Whole,   ///< the same on every part
  Cut,     ///< every part has a block of one dimension
  Partial, ///< every part has a summand
  Single,  ///< one part has it
  Any,     ///< for a movement: any placement
};

/// The arguments of a movement besides the moved value and the level.
enum class MovementTakes : uint8_t {
  Nothing,
  Axis, ///< `by: D`, the dimension along which the result is cut
  Distance, ///< `by: 1`, how many positions further along the axis that is cut, over all levels that cut it
  Part, ///< `to: 2`
  Axes, ///< `over: [host, chip], by: [B, D]`, one dimension per level
  Rows, ///< a call of `std.experts`, over one or more levels: data decide which row goes where
};

enum class MovementId : uint8_t {
#define MOVEMENT(ID, NAME, FROM, TO, TAKES, WAYS, SHARE, DOC) ID,
#include "ir/ops/movements.def"
};

struct MovementRecord {
  MovementId id;
  std::string_view name;
  PlacementKind from, to;
  MovementTakes takes;
  std::string_view algorithms; ///< that a call may name with `how:`, with spaces between
  std::string_view share;      ///< share of the array's bytes that each of `n` parts sends
  std::string_view doc;        ///< one line
};

inline constexpr MovementRecord allMovements[] = {
#define MOVEMENT(ID, NAME, FROM, TO, TAKES, WAYS, SHARE, DOC)                                      \
  {MovementId::ID, NAME, PlacementKind::FROM, PlacementKind::TO, MovementTakes::TAKES, WAYS,       \
   SHARE,          DOC},
#include "ir/ops/movements.def"
};

/// The movement of that name; null if there is none.
constexpr const MovementRecord *findMovement(std::string_view name) {
  for (const MovementRecord &record : allMovements)
    if (record.name == name)
      return &record;
  return nullptr;
}
constexpr const MovementRecord &movementRecord(MovementId id) {
  return allMovements[static_cast<size_t>(id)];
}

} // namespace ptl
