#include "runtime/sim/core/make_tile.h"

#include "runtime/sim/core/fault.h"
#include "runtime/sim/group.h"

#include <algorithm>
#include <cstdint>

namespace ptl::rt::sim {

void setValid(const Registers &registers, const Step &step, Tile &tile) {
  size_t next = step.operands.size() - step.validRowGiven - step.validColGiven;
  // What does not fit 32 bits must not become a number that does: the caller compares it with the
  // extents of the tile, and any that is too large will do.
  auto number = [&](size_t operand) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(registers.integer(step, operand), -1, INT32_MAX));
  };
  if (step.validRowGiven)
    tile.validRows = number(next++);
  if (step.validColGiven)
    tile.validCols = number(next);
}

/// Slots of a buffer are taken in turn, and lie at multiples of the memory's alignment.
static bool takeSlot(CoreState &core, const Step &step, Tile &made) {
  int64_t slot = core.registers.integer(step, 1) % step.slotCount;
  // A negative remainder would take a slot before the buffer.
  if (slot < 0)
    return failAt(core, step, "takes the slot " + std::to_string(slot));
  int64_t alignment =
      std::max<int64_t>(core.launch.chip.alignment[static_cast<size_t>(made.place)], 1);
  int64_t distance = (made.bufferBytes() + alignment - 1) / alignment * alignment;
  made.address = core.registers.tile(step.operands[0]).address + slot * distance;
  return true;
}

static bool takeWindow(CoreState &core, const Step &step, Tile &made) {
  const Tile &source = core.registers.tile(step.operands[0]);
  int64_t row = core.registers.integer(step, 1), col = core.registers.integer(step, 2);
  // A window that reaches beyond its tile would reach another buffer, and nothing else would
  // notice.
  if (row < 0 || col < 0 || row + made.rows > source.rows || col + made.cols > source.cols)
    return failAt(core, step,
                  "is a window of " + std::to_string(made.rows) + "x" + std::to_string(made.cols) +
                      " at (" + std::to_string(row) + ", " + std::to_string(col) + ") of " +
                      std::to_string(source.rows) + "x" + std::to_string(source.cols));
  made.address = source.address;
  made.core = source.core;
  made.bufferRows = source.bufferRows;
  made.bufferCols = source.bufferCols;
  made.row0 = source.row0 + static_cast<int32_t>(row);
  made.col0 = source.col0 + static_cast<int32_t>(col);
  return true;
}

/// Makes an alias of a tile. A window that is not the whole buffer can only have one if its elements
/// are adjacent: emitted code takes a tile at the same address for it, which has no gaps.
static bool takeAlias(CoreState &core, const Step &step, Tile &made) {
  const Tile &source = core.registers.tile(step.operands[0]);
  bool isBoxed = source.layout.inner != ElementOrder::None,
       byRows = source.layout.box == ElementOrder::RowMajor,
       isAdjacent = !isBoxed && (byRows ? source.cols == source.bufferCols || source.rows == 1
                                        : source.rows == source.bufferRows || source.cols == 1);
  bool whole = source.rows == source.bufferRows && source.cols == source.bufferCols;
  made.core = source.core;
  made.address = source.address;
  // Between the rows of a window lie bytes of its neighbours, which a tile of another shape would
  // take for its own.
  if (!whole && !isAdjacent)
    return failAt(core, step, "takes a window of a tile for another shape");
  // An alias of whole rows begins at the window's first element.
  made.address += whole ? 0 : elementOffset(source, 0, 0);
  return true;
}

/// Finds where the tile of a step lies.
static bool placeTile(CoreState &core, const Step &step, Tile &made) {
  switch (step.kind) {
  case StepKind::AllocTile:
    made.address = core.registers.integer(step, 0);
    return true;
  case StepKind::GetSlot:
    return takeSlot(core, step, made);
  case StepKind::Window:
    return takeWindow(core, step, made);
  case StepKind::Alias:
    return takeAlias(core, step, made);
  default: // declared tiles have no address yet
    made.address = -1;
    return true;
  }
}

bool makeTile(CoreState &core, const Step &step) {
  Tile made = step.tile;
  if (!placeTile(core, step, made))
    return false;
  setValid(core.registers, step, made);
  if (made.validRows < 0 || made.validRows > made.rows || made.validCols < 0 ||
      made.validCols > made.cols)
    return failAt(core, step,
                  "has " + std::to_string(made.validRows) + "x" + std::to_string(made.validCols) +
                      " valid elements in " + std::to_string(made.rows) + "x" +
                      std::to_string(made.cols));
  core.registers.tile(step.result) = made;
  return true;
}

} // namespace ptl::rt::sim
