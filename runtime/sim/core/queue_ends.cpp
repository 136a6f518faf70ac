#include "runtime/sim/core/queue_ends.h"

#include "machines/machine.h"
#include "runtime/sim/core/fault.h"
#include "runtime/sim/group.h"

namespace ptl::rt::sim {

const Queue &queueOf(const CoreState &core, const Step &step) {
  return core.launch.kernel.queues[static_cast<size_t>(step.queue)];
}

static QueueEnd &endOf(CoreState &core, const Step &step) {
  return core.queueEnds[static_cast<size_t>(step.queue)];
}
static const QueueEnd &endOf(const CoreState &core, const Step &step) {
  return core.queueEnds[static_cast<size_t>(step.queue)];
}

void initQueue(CoreState &core, const Step &step) {
  QueueEnd &end = endOf(core, step);
  end.localAddress = core.registers.scalar(step.operands.back()).i;
  if (step.operands.size() > 1)
    end.global = core.registers.view(step.operands[0]);
}

// ---- issue --------------------------------------------------------------------------------------

int64_t localSlot(const CoreState &core, const Step &step, int64_t ordinal) {
  const Queue &queue = queueOf(core, step);
  int64_t address = endOf(core, step).localAddress;
  // A pop through global memory loads into a local slot, and there may be fewer of these. They lie
  // as far apart as those of the ring.
  if (queue.throughGlobal)
    return address + ordinal % queue.localSlots * queue.slotBytes;
  // Parts of a tile take the room of a part in the memory of a vector core.
  bool parts = queue.toVector && queue.split != 0 && core.group.numVector() > 1;
  int64_t distance = parts ? queue.slotBytes / core.group.numVector() : queue.slotBytes;
  return address + ordinal % queue.slots * distance;
}

static bool failFree(const CoreState &core, const Step &step) {
  return failAt(core, step, "gives back a slot that was not popped");
}

bool numberAtQueue(CoreState &core, Issued &issued) {
  const Step &step = *issued.step;
  QueueEnd &end = endOf(core, step);
  if (step.kind == StepKind::Push) {
    issued.ordinal = end.pushes++;
    return true;
  }
  if (step.kind == StepKind::Free) {
    issued.ordinal = end.frees++;
    return issued.ordinal < end.pops || failFree(core, step);
  }
  issued.ordinal = end.pops++;
  // The tile that the program goes on with lies where the pop puts it.
  Tile &bound = core.registers.tile(step.operands[0]);
  bound.address = localSlot(core, step, issued.ordinal);
  // The instruction was read before, so the address has to go into its copy of the operand, too.
  issued.operands[0] = bound;
  return true;
}

bool issueLocalFree(CoreState &core, const Step &step) {
  QueueEnd &end = endOf(core, step);
  ++core.scalar.issued;
  // A slot that was never popped would be given to the producer while it is being filled.
  if (end.frees++ >= end.pops)
    return failFree(core, step);
  core.frees.add(step.queue, core.pipes);
  giveSlotsBack(core);
  return true;
}

void giveSlotsBack(CoreState &core) {
  for (int32_t queue; (queue = core.frees.takeDue(core.pipes)) >= 0;)
    core.group.signal(QueueSignal::Freed, queue, core.index);
}

// ---- who can go on ------------------------------------------------------------------------------

bool neverTakesPart(const CoreState &core, size_t queue) {
  return core.isFinished() && core.queueEnds[queue].pops == 0 && core.queueEnds[queue].pushes == 0;
}

bool isPushReady(const CoreState &core, const Issued &issued) {
  auto index = static_cast<size_t>(issued.step->queue);
  const Queue &queue = queueOf(core, *issued.step);
  const QueueState &state = core.group.queues()[index];
  int64_t atOnce = freedAtOnce(queue.slots);
  // Consumers give slots back in order, so the slowest one counts. A core that ended without taking
  // part does not.
  for (const std::unique_ptr<Core> &other : core.group.cores()) {
    if (other->isCube() == queue.toVector)
      continue;
    // They tell of several slots at once, so the count that the producer knows is rounded down.
    int64_t told = state.freed[other->index()] / atOnce * atOnce;
    if (issued.ordinal - told >= queue.slots && !other->neverTakesPart(index))
      return false;
  }
  return true;
}

bool isPopReady(const CoreState &core, const Issued &issued) {
  const Queue &queue = queueOf(core, *issued.step);
  const QueueState &state = core.group.queues()[static_cast<size_t>(issued.step->queue)];
  for (const std::unique_ptr<Core> &other : core.group.cores()) {
    bool produces = other->isCube() == queue.toVector;
    // A whole tile that goes to the cube core comes from the first vector core; parts come from
    // each.
    bool counts = queue.toVector || issued.step->split != 0 || other->subBlock() == 0;
    if (produces && counts && state.pushed[other->index()] <= issued.ordinal)
      return false;
  }
  return true;
}

// ---- slots in global memory ---------------------------------------------------------------------

bool globalSlot(const CoreState &core, const Issued &issued, const Tile &tile, View &slot) {
  const Queue &queue = queueOf(core, *issued.step);
  bool isCube = core.function.cube;
  int64_t parts = isCube ? 1 : core.group.numVector(), part = isCube ? 0 : core.subBlock;
  // Parts of a tile lie in one slot beside each other, so strides are those of the whole tile.
  bool byRows = issued.step->split == 1, byCols = issued.step->split == 2;
  int64_t wholeRows = tile.rows * (byRows ? parts : 1),
          wholeCols = tile.cols * (byCols ? parts : 1);
  int64_t size = elemBytes(tile.elem);
  // A tile that does not fit the slot is a mistake of the program.
  if (wholeRows * wholeCols * size > queue.slotBytes)
    return false;
  slot = endOf(core, *issued.step).global;
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

} // namespace ptl::rt::sim
