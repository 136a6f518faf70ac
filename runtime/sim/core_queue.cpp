// Queues of tiles between the cube core and the vector cores of a group.
#include "machines/machine.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

const Queue &Core::queueOf(const Step &step) const {
  return group_.launch().kernel.queues[static_cast<size_t>(step.queue)];
}

bool Core::neverTakesPart(size_t queue) const {
  // Such a core has gone past the queue, for instance on another branch.
  return isFinished() && ends_[queue].pops == 0 && ends_[queue].pushes == 0;
}

/// Consumers give slots back in order, so the slowest one counts, and tell it of several at once. A
/// core that ended without taking part does not.
bool Core::pushReady(const Issued &issued) const {
  auto index = static_cast<size_t>(issued.step->queue);
  const Queue &queue = queueOf(*issued.step);
  const QueueState &state = group_.queues()[index];
  int64_t atOnce = freedAtOnce(queue.slots);
  for (const std::unique_ptr<Core> &core : group_.cores())
    // Slots are given back in groups, so the count that the producer knows is rounded down.
    if (int64_t told = state.freed[core->index()] / atOnce * atOnce;
        core->isCube() != queue.toVector && !core->neverTakesPart(index) &&
        issued.ordinal - told >= queue.slots)
      return false;
  return true;
}

/// A whole tile that goes to the cube core comes from the first vector core; parts come from each.
bool Core::popReady(const Issued &issued) const {
  const Queue &queue = queueOf(*issued.step);
  const QueueState &state = group_.queues()[static_cast<size_t>(issued.step->queue)];
  for (const std::unique_ptr<Core> &core : group_.cores()) {
    bool produces = core->isCube() == queue.toVector;
    // Of a whole tile for the cube core only the first vector core pushes.
    bool counts = queue.toVector || issued.step->split != 0 || core->subBlock() == 0;
    if (produces && counts && state.pushed[core->index()] <= issued.ordinal)
      return false;
  }
  return true;
}

/// Parts of a tile take the room of a part in the memory of a vector core.
int64_t Core::slotDistance(const Queue &queue) const {
  bool parts = queue.toVector && queue.split != 0 && group_.numVector() > 1;
  return parts ? queue.slotBytes / group_.numVector() : queue.slotBytes;
}

/// The part of the slot in global memory that belongs to a tile of this core: the whole tile row by
/// row, parts in it.
bool Core::slotView(const Issued &issued, const Tile &tile, View &slot) const {
  const Queue &queue = queueOf(*issued.step);
  int64_t parts = function_.cube ? 1 : group_.numVector(), part = function_.cube ? 0 : subBlock_;
  // Parts of a tile lie in one slot beside each other, so strides are those of the whole tile.
  bool byRows = issued.step->split == 1, byCols = issued.step->split == 2;
  int64_t wholeRows = tile.rows * (byRows ? parts : 1),
          wholeCols = tile.cols * (byCols ? parts : 1);
  int64_t size = elemBytes(tile.elem);
  // A tile that does not fit the slot is a mistake of the program.
  if (wholeRows * wholeCols * size > queue.slotBytes)
    return false;
  slot = ends_[static_cast<size_t>(issued.step->queue)].global;
  slot.elem = tile.elem;
  slot.rank = 2;
  slot.shape[0] = tile.rows;
  slot.shape[1] = tile.cols;
  slot.strides[0] = wholeCols;
  slot.strides[1] = 1;
  // Slots are taken round robin.
  slot.offset += issued.ordinal % queue.slots * queue.slotBytes;
  slot.offset +=
      ((byRows ? part * tile.rows * wholeCols : 0) + (byCols ? part * tile.cols : 0)) * size;
  return true;
}

static void poisonPlane(const Plane &plane) {
  std::vector<uint8_t> row(static_cast<size_t>(plane.cols * elemBytes(plane.elem)));
  // What nobody has written must not look like the data of an earlier turn.
  poison(row.data(), static_cast<int64_t>(row.size()));
  for (int64_t r = 0; r < plane.rows; ++r)
    storeBits(plane, r, 0, plane.cols, row.data());
}

bool Core::pushThroughGlobal(Execution &x, const Issued &issued, const Plane &from,
                             HeldWrites *held) {
  View slot;
  Plane whole;
  if (!slotView(issued, *from.tile, slot))
    return x.fail("pushes more than the " + std::to_string(queueOf(*issued.step).slotBytes) +
                  " bytes of a slot");
  if (!x.planeOf(slot, whole))
    return false;
  if (held)
    // All of the slot is watched, since poison is written first.
    held->watch(whole, true);
  poisonPlane(whole);
  // Only the valid part is copied; the rest stays poison.
  Plane valid = whole;
  valid.rows = from.rows;
  valid.cols = from.cols;
  return copyPlane(x, from, 0, 0, valid);
}

/// Copies what is valid of the source from a row and a column on, as far as the destination goes.
bool Core::pushToTile(Execution &x, const Plane &from, Tile to, int64_t row, int64_t col,
                      HeldWrites *held) {
  // The whole buffer is poisoned before the valid part is written.
  to.validRows = to.rows;
  to.validCols = to.cols;
  Plane target;
  if (!x.planeOf(to, target))
    return false;
  if (held)
    held->watch(target, true);
  poisonPlane(target);
  target.rows = std::clamp<int64_t>(from.rows - row, 0, to.rows);
  target.cols = std::clamp<int64_t>(from.cols - col, 0, to.cols);
  bool ok = copyPlane(x, from, row, col, target);
  // The tile of `target` ends with this call, but what is watched holds addresses only.
  return ok;
}

static bool isAlike(const Tile &a, const Tile &b) {
  return a.rows == b.rows && a.cols == b.cols && a.elem == b.elem && a.layout == b.layout;
}

/// Whether each place that pushes has the place that pops to itself.
static bool isPaired(const Queue &queue) {
  return queue.popped.size() == static_cast<size_t>(queue.pushes);
}

/// The type of the tile that is popped of what a step pushes.
static const Tile &poppedBy(const Queue &queue, const Step &step) {
  return queue.popped[isPaired(queue) ? static_cast<size_t>(step.number) : 0];
}

bool Core::pushDirect(Execution &x, const Issued &issued, const Plane &from, HeldWrites *held) {
  const Queue &queue = queueOf(*issued.step);
  // With one type for all pops any of them will do.
  Tile slot = poppedBy(queue, *issued.step);
  bool byRows = issued.step->split == 1, byCols = issued.step->split == 2;
  slot.address = ends_[static_cast<size_t>(issued.step->queue)].localAddress +
                 issued.ordinal % queue.slots * slotDistance(queue);
  // The cube core writes to the memory of each vector core.
  if (queue.toVector) {
    for (int32_t part = 0; part < group_.numVector(); ++part) {
      slot.core = group_.firstVector() + part;
      if (!pushToTile(x, from, slot, byRows ? part * slot.rows : 0, byCols ? part * slot.cols : 0,
                      held))
        return false;
    }
    return true;
  }
  // Each vector core writes its own part of the tile in the memory of the cube core.
  slot.core = 0;
  slot.row0 = byRows ? subBlock_ * from.tile->rows : 0;
  slot.col0 = byCols ? subBlock_ * from.tile->cols : 0;
  slot.rows = std::min(slot.rows - slot.row0, from.tile->rows);
  slot.cols = std::min(slot.cols - slot.col0, from.tile->cols);
  return pushToTile(x, from, slot, 0, 0, held);
}

bool Core::runPush(Execution &x, const Issued &issued, HeldWrites *held) {
  const Queue &queue = queueOf(*issued.step);
  const Plane &from = x.in(0);
  // Without a pop nobody reads the tile, so any type will do.
  if (!queue.popped.empty()) {
    const Tile &wanted = poppedBy(queue, *issued.step);
    if (!isPaired(queue) && !std::all_of(queue.popped.begin(), queue.popped.end(),
                                         [&](const Tile &tile) { return isAlike(tile, wanted); }))
      return x.fail("pushes where tiles of several types are popped");
    if (wanted.elem != from.elem)
      return x.fail("pushes " + std::string(elemName(from.elem)) + " where " +
                    std::string(elemName(wanted.elem)) + " is popped");
  }
  // The other vector cores only keep count.
  bool takesPartOnly = !queue.toVector && issued.step->split == 0 && subBlock_ != 0;
  if (takesPartOnly)
    return true;
  bool ok = queue.throughGlobal ? pushThroughGlobal(x, issued, from, held)
                                : pushDirect(x, issued, from, held);
  if (ok && held)
    held->take();
  return ok;
}

bool Core::runPop(Execution &x, const Issued &issued, HeldWrites *held) {
  // A direct push has put the tile where the pop expects it.
  if (!queueOf(*issued.step).throughGlobal)
    return true;
  const Plane &to = x.in(0);
  View slot;
  Plane from;
  if (!slotView(issued, *to.tile, slot))
    return x.fail("pops more than the " + std::to_string(queueOf(*issued.step).slotBytes) +
                  " bytes of a slot");
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
