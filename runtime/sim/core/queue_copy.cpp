#include "runtime/sim/core/queue_copy.h"

#include "runtime/sim/group.h"

namespace ptl::rt::sim {

/// What nobody has written must not look like the data of an earlier turn.
static void poisonPlane(const Plane &plane) {
  std::vector<uint8_t> row(static_cast<size_t>(plane.cols * elemBytes(plane.elem)));
  poison(row.data(), static_cast<int64_t>(row.size()));
  for (int64_t r = 0; r < plane.rows; ++r)
    storeBits(plane, r, 0, plane.cols, row.data());
}

static bool pushThroughGlobal(CoreState &core, Execution &x, const Issued &issued,
                              HeldWrites *held) {
  const Plane &from = x.in(0);
  View slot;
  Plane whole;
  if (!globalSlot(core, issued, *from.tile, slot))
    return x.fail("pushes more than the " + std::to_string(queueOf(core, *issued.step).slotBytes) +
                  " bytes of a slot");
  if (!x.planeOf(slot, whole))
    return false;
  // All of the slot is watched, since poison is written first.
  if (held)
    held->watch(whole, true);
  poisonPlane(whole);
  // Only the valid part is copied; the rest stays poison.
  // Poison that is left in the slot shows a consumer that reads more than was pushed.
  Plane valid = whole;
  valid.rows = from.rows;
  valid.cols = from.cols;
  return copyPlane(x, from, 0, 0, valid);
}

/// Copies what is valid of the source from a row and a column on, as far as the destination goes.
static bool pushToTile(Execution &x, Tile to, int64_t row, int64_t col, HeldWrites *held) {
  const Plane &from = x.in(0);
  // The whole buffer is poisoned before the valid part is written.
  to.validRows = to.rows;
  to.validCols = to.cols;
  Plane target;
  if (!x.planeOf(to, target))
    return false;
  // `target` refers to `to`, which ends with this call, but what is watched holds addresses only.
  if (held)
    held->watch(target, true);
  poisonPlane(target);
  target.rows = std::clamp<int64_t>(from.rows - row, 0, to.rows);
  target.cols = std::clamp<int64_t>(from.cols - col, 0, to.cols);
  return copyPlane(x, from, row, col, target);
}

static bool isAlike(const Tile &a, const Tile &b) {
  return a.rows == b.rows && a.cols == b.cols && a.elem == b.elem && a.layout == b.layout;
}

/// Whether each place that pushes has the place that pops to itself.
static bool isPaired(const Queue &queue) {
  return queue.popped.size() == static_cast<size_t>(queue.pushes);
}

/// The type of the tile that is popped of what a step pushes. With one type for all pops any of
/// them will do.
static const Tile &poppedBy(const Queue &queue, const Step &step) {
  return queue.popped[isPaired(queue) ? static_cast<size_t>(step.number) : 0];
}

/// Puts a tile into the memory of who pops it.
static bool pushDirect(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held) {
  const Queue &queue = queueOf(core, *issued.step);
  // Nobody has said which form the tile has there, and nobody looks.
  if (queue.popped.empty())
    return true;
  Tile slot = poppedBy(queue, *issued.step);
  bool byRows = issued.step->split == 1, byCols = issued.step->split == 2;
  slot.address = localSlot(core, *issued.step, issued.ordinal);
  // The cube core writes to the memory of each vector core.
  if (queue.toVector) {
    for (int32_t part = 0; part < core.group.numVector(); ++part) {
      slot.core = core.group.firstVector() + part;
      if (!pushToTile(x, slot, byRows ? part * slot.rows : 0, byCols ? part * slot.cols : 0, held))
        return false;
    }
    return true;
  }
  // Each vector core writes its own part of the tile in the memory of the cube core.
  const Tile &from = *x.in(0).tile;
  slot.core = 0;
  slot.row0 = byRows ? core.subBlock * from.rows : 0;
  slot.col0 = byCols ? core.subBlock * from.cols : 0;
  slot.rows = std::min(slot.rows - slot.row0, from.rows);
  slot.cols = std::min(slot.cols - slot.col0, from.cols);
  return pushToTile(x, slot, 0, 0, held);
}

/// Checks that what is pushed is what is popped. Without a pop nobody reads the tile, so any type
/// will do.
static bool checkPushed(const Queue &queue, Execution &x, const Step &step) {
  if (queue.popped.empty())
    return true;
  const Tile &wanted = poppedBy(queue, step);
  if (!isPaired(queue) && !std::all_of(queue.popped.begin(), queue.popped.end(),
                                       [&](const Tile &tile) { return isAlike(tile, wanted); }))
    return x.fail("pushes where tiles of several types are popped");
  if (ElemKind elem = x.in(0).elem; wanted.elem != elem)
    return x.fail("pushes " + std::string(elemName(elem)) + " where " +
                  std::string(elemName(wanted.elem)) + " is popped");
  return true;
}

bool runPush(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held) {
  const Queue &queue = queueOf(core, *issued.step);
  if (!checkPushed(queue, x, *issued.step))
    return false;
  // A whole tile for the cube core comes from the first vector core; the others only keep count.
  bool takesPartOnly = !queue.toVector && issued.step->split == 0 && core.subBlock != 0;
  if (takesPartOnly)
    return true;
  bool ok = queue.throughGlobal ? pushThroughGlobal(core, x, issued, held)
                                : pushDirect(core, x, issued, held);
  if (ok && held)
    held->take();
  return ok;
}

bool runPop(CoreState &core, Execution &x, const Issued &issued, HeldWrites *held) {
  const Queue &queue = queueOf(core, *issued.step);
  // A direct push has put the tile where the pop expects it.
  if (!queue.throughGlobal)
    return true;
  const Plane &to = x.in(0);
  View slot;
  Plane from;
  if (!globalSlot(core, issued, *to.tile, slot))
    return x.fail("pops more than the " + std::to_string(queue.slotBytes) + " bytes of a slot");
  if (!x.planeOf(slot, from))
    return false;
  if (held)
    held->watch(to, true);
  bool ok = copyPlane(x, from, 0, 0, to);
  if (ok && held)
    held->take();
  return ok;
}

} // namespace ptl::rt::sim
