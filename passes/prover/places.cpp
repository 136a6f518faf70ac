// Placement, ids and the declarations of queues.

#include "passes/prover/places.h"

#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ptl::prove {

static std::string text(int64_t number) { return std::to_string(number); }

/// Bytes [base, base + bytes) of a memory: inside it, and aligned.
static void judgeArea(Operation *op, llvm::function_ref<std::string()> name, std::string_view place,
                      int64_t base, int64_t bytes, const Machine &machine, Findings &findings) {
  const MemorySpace *space = machine.space(place);
  if (!space)
    return;
  int64_t usable = space->usableBytes();
  if (base < 0 || (usable > 0 && base + bytes > usable)) {
    Finding *finding = findings.add(
        DiagId::BlockBufferOutside, op,
        {name(), text(base), text(base + bytes - 1), std::string(place), text(usable)});
    // A fix exists only where the buffer fits into the memory at all.
    if (finding && base >= 0 && bytes <= usable)
      finding->fix = "place it at byte " +
                     text((usable - bytes) / space->alignment * space->alignment) + " or lower";
    if (finding && space->reserved)
      finding->notes.push_back(text(space->reserved) + " bytes at the end of `" +
                               std::string(place) + "` are reserved");
  }
  // A buffer may be outside and misaligned; both are told, because one change should mend both.
  if (base % space->alignment) {
    Finding *finding =
        findings.add(DiagId::BlockBufferMisaligned, op,
                     {name(), text(base), std::string(place), text(space->alignment)});
    if (finding)
      finding->fix =
          "use byte " + text((base + space->alignment - 1) / space->alignment * space->alignment);
  }
}

static bool isQueue(Operation *op) {
  return isa<pto::InitializeL2G2LPipeOp, pto::InitializeL2LPipeOp>(op);
}

static void judgeSlots(const Case &judged, const Buffer &buffer, Operation *maker) {
  for (const Queue &queue : judged.kernel.queues) {
    const QueueSide &side = queue.consumer();
    // Only slots in the consumer's own memory can share bytes with its buffers.
    if (queue.throughGlobal || side.op == kNone || side.reservedBytes < 0)
      continue;
    Operation *consumer = judged.kernel.operations[side.op];
    bool samePlace =
        side.reservedPlace == std::string_view(ir::placeName(static_cast<ir::Place>(buffer.place)));
    bool apart = buffer.base + buffer.bytes <= side.reservedBase ||
                 side.reservedBase + side.reservedBytes <= buffer.base;
    if (!samePlace || apart ||
        maker->getParentOfType<func::FuncOp>() != consumer->getParentOfType<func::FuncOp>())
      continue;
    Finding *finding =
        judged.findings.add(DiagId::QueueSlotsShared, maker, {nameOf(maker), queue.name}, consumer);
    if (finding)
      finding->related.push_back(
          {consumer->getLoc(), "its slots lie at bytes " + text(side.reservedBase) + " to " +
                                   text(side.reservedBase + side.reservedBytes - 1)});
  }
}

// The two sides of a queue name the same part of global memory; different queues name different
// parts.
static void judgeAreas(const Case &judged) {
  const auto &areas = judged.execution.areas;
  // Few areas exist, so each pair is compared.
  for (size_t i = 0; i < areas.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const QueueArea &a = areas[j], &b = areas[i];
      Operation *first = judged.kernel.operations[a.op], *second = judged.kernel.operations[b.op];
      const std::string &name = judged.kernel.queues[b.queue].name;
      // Byte 0 of both sides has to be the same; their lengths follow from the slots.
      bool same = a.pointer == b.pointer && a.begin == b.begin;
      bool overlap = a.pointer == b.pointer && a.begin < b.end && b.begin < a.end;
      if (a.queue == b.queue && !same && a.op != b.op)
        judged.findings.add(DiagId::QueueSidesDiffer, second,
                            {name, "they lie in different parts of global memory"}, first);
      if (a.queue != b.queue && overlap)
        judged.findings.add(DiagId::QueueSlotsShared, second,
                            {name, judged.kernel.queues[a.queue].name}, first);
    }
}

void judgePlaces(const Case &judged, const Machine &machine) {
  // Buffer 0 stands for tiles that no pop has bound yet.
  for (size_t i = 1; i < judged.execution.buffers.size(); ++i) {
    const Buffer &buffer = judged.execution.buffers[i];
    Operation *maker = judged.kernel.operations[buffer.op];
    // The slots of queues are judged with the queue (`judgeQueues`).
    if (isQueue(maker))
      continue;
    judgeArea(
        maker, [&] { return nameOf(maker); },
        std::string_view(ir::placeName(static_cast<ir::Place>(buffer.place))), buffer.base,
        buffer.bytes, machine, judged.findings);
    judgeSlots(judged, buffer, maker);
  }
  judgeAreas(judged);
}

// ---- queues -------------------------------------------------------------------------------------

static void judgeSides(const Kernel &kernel, const Queue &queue, Findings &findings) {
  bool both = queue.cube.op != kNone && queue.vector.op != kNone;
  // Findings are placed at the cube core's side if there is one.
  Operation *op = kernel.operations[queue.cube.op != kNone ? queue.cube.op : queue.vector.op];
  if (!both) {
    findings.add(DiagId::QueueSidesDiffer, op,
                 {queue.name, queue.cube.op != kNone ? "the vector cores do not use it"
                                                     : "the cube core does not use it"});
    return;
  }
  Operation *other = kernel.operations[queue.vector.op];
  auto differ = [&](const char *what, int64_t cube, int64_t vector) {
    if (cube == vector)
      return;
    Finding *finding = findings.add(DiagId::QueueSidesDiffer, other,
                                    {queue.name, std::string(what) + " is " + text(cube) +
                                                     " on the cube core and " + text(vector) +
                                                     " on the vector cores"});
    if (finding)
      finding->related.push_back({op->getLoc(), "the other side"});
  };
  differ("slot_size", queue.cube.slotSize, queue.vector.slotSize);
  differ("slot_num", queue.cube.slots, queue.vector.slots);
  differ("flag_base", queue.cube.flagBase, queue.vector.flagBase);
  differ("nosplit", queue.cube.noSplit, queue.vector.noSplit);
  bool globalCube = isa<pto::InitializeL2G2LPipeOp>(op),
       globalVector = isa<pto::InitializeL2G2LPipeOp>(other);
  if (globalCube != globalVector)
    findings.add(DiagId::QueueSidesDiffer, other,
                 {queue.name, "one goes through global memory, the other does not"});
}

static void judgeFlags(const Kernel &kernel, const Machine &machine, Findings &findings) {
  std::map<int64_t, const Queue *> owners;
  int64_t each = std::max<int64_t>(1, machine.exchange.flagsPerDirection);
  for (const Queue &queue : kernel.queues) {
    const QueueSide &side = queue.cube.op != kNone ? queue.cube : queue.vector;
    // A queue takes `flagsPerDirection` consecutive flags from its base on.
    for (int64_t flag = side.flagBase; side.flagBase >= 0 && flag < side.flagBase + each; ++flag) {
      Operation *op = kernel.operations[side.op];
      bool reserved =
          std::find(machine.crossCore.reserved.begin(), machine.crossCore.reserved.end(), flag) !=
          machine.crossCore.reserved.end();
      auto [owner, isNew] = owners.try_emplace(flag, &queue);
      std::string why = machine.crossCore.flags && flag >= machine.crossCore.flags
                            ? "the last is " + text(machine.crossCore.flags - 1)
                        : reserved ? "which is reserved"
                        : !isNew   ? "as `" + owner->second->name + "` does"
                                   : "";
      if (!why.empty())
        findings.add(DiagId::QueueFlagsClash, op, {queue.name, text(flag), why});
    }
  }
}

// Queues take flags of the same set.
void judgeCrossing(const Kernel &kernel, Operation *op, int64_t id, Findings &findings) {
  std::string name = spelledEvent(op);
  if (id < 0 || (kernel.crossIds && id >= kernel.crossIds))
    findings.add(DiagId::EventIdBeyondLimit, op,
                 {std::to_string(id), "one core", "another", std::to_string(kernel.crossIds - 1)});
  for (int64_t reserved : kernel.crossReserved)
    if (id == reserved)
      findings.add(DiagId::QueueFlagsClash, op, {name, std::to_string(id), "which is reserved"});
  for (const Queue &queue : kernel.queues) {
    const QueueSide &side = queue.cube.op != kNone ? queue.cube : queue.vector;
    if (side.flagBase >= 0 && id >= side.flagBase && id < side.flagBase + kernel.queueFlags)
      findings.add(DiagId::QueueFlagsClash, op,
                   {name, std::to_string(id), "as `" + queue.name + "` does"},
                   kernel.operations[side.op]);
  }
}

namespace {
/// A push or a pop, with what its tile amounts to over both vector cores.
struct Transfer {
  Operation *op;
  pto::TileBufType tile;
  int64_t split, parts, elements, bytes;
};
} // namespace

static std::string tileText(pto::TileBufType type) {
  std::string result;
  llvm::raw_string_ostream(result)
      << type.getRows() << "x" << type.getCols() << "x" << type.getElementType();
  return result;
}

/// Whether two ends of a queue see the same elements in a slot, which lie row by row in it. Where a
/// tile is handed over whole, one of them may have room for more rows than are valid.
static bool fit(const Transfer &a, const Transfer &b) {
  // A whole tile goes row by row, so the same number of columns makes the same layout.
  bool whole = a.split == 0 && a.tile.getCols() == b.tile.getCols();
  return a.tile.getElementType() == b.tile.getElementType() && (whole || a.elements == b.elements);
}

static void judgeTransfers(const Queue &queue, const Transfer &first, const Transfer &next,
                           bool firstPushes, Findings &findings) {
  std::string what;
  if (first.split != next.split)
    what = "split is " + text(first.split) + " here and " + text(next.split) + " there";
  else if (!fit(first, next))
    what = "tiles of " + tileText(first.tile) + (first.parts == 2 ? " on each vector core" : "") +
           " meet tiles of " + tileText(next.tile) +
           (next.parts == 2 ? " on each vector core" : "");
  if (what.empty())
    return;
  Finding *finding = findings.add(DiagId::QueueSidesDiffer, next.op, {queue.name, what}, first.op);
  if (finding)
    finding->related.push_back({first.op->getLoc(), firstPushes ? "pushed here" : "popped here"});
}

/// The transfer that another one is to be like: where both sides have as many, they go through a
/// queue in the order of the program, so that it is the other end of the same number; else all are
/// alike.
static const Transfer *partner(llvm::ArrayRef<Transfer> all, const Transfer &one) {
  auto pushes = [](const Transfer &each) { return isa<pto::TPushOp>(each.op); };
  bool paired = 2 * llvm::count_if(all, pushes) == static_cast<int64_t>(all.size());
  if (!paired)
    return &all.front();
  int64_t number = 0;
  for (const Transfer &each : all) {
    if (&each == &one)
      break;
    number += pushes(each) == pushes(one);
  }
  for (const Transfer &each : all)
    if (pushes(each) != pushes(one) && number-- == 0)
      return &each < &one ? &each : nullptr; // told once, at the later end
  return nullptr;
}

static void judgeTiles(const Kernel &kernel, const Queue &queue, Findings &findings) {
  std::vector<Transfer> transfers;
  for (Operation *op : kernel.operations) {
    // Which queue a push or a pop uses is known by the operation that opened it.
    if (!isa<pto::TPushOp, pto::TPopOp>(op))
      continue;
    Operation *opened = op->getOperand(1).getDefiningOp();
    bool vector = queue.vector.op != kNone && opened == kernel.operations[queue.vector.op];
    if (!vector && (queue.cube.op == kNone || opened != kernel.operations[queue.cube.op]))
      continue;
    auto tile = cast<pto::TileBufType>(op->getOperand(0).getType());
    int64_t split = op->getAttrOfType<IntegerAttr>("split").getInt(),
            parts = vector && split ? 2 : 1;
    transfers.push_back(
        {op, tile, split, parts, tile.getRows() * tile.getCols() * parts, tile.getBytes()});
  }
  const QueueSide &consumer = queue.consumer(),
                  &any = queue.cube.op != kNone ? queue.cube : queue.vector;
  int64_t slots = queue.throughGlobal ? consumer.localSlots : consumer.slots;
  for (const Transfer &transfer : transfers) {
    std::string what = "`" + mnemonic(transfer.op) + "`";
    if (any.slotSize > 0 && transfer.bytes * transfer.parts > any.slotSize)
      findings.add(DiagId::QueueTooSmall, transfer.op,
                   {what, text(transfer.bytes * transfer.parts), "a slot of `" + queue.name + "`",
                    text(any.slotSize)});
    // Behind a ring in global memory the consumer's slots lie as far apart as those of the ring.
    int64_t parts = !queue.throughGlobal && queue.toVector && transfer.split ? 2 : 1;
    // The last slot begins after all others and has to hold one whole tile.
    int64_t apart = any.slotSize > 0 ? any.slotSize / parts : transfer.bytes,
            needed = (slots - 1) * apart + transfer.bytes;
    if (isa<pto::TPopOp>(transfer.op) && consumer.reservedBytes >= 0 &&
        needed > consumer.reservedBytes)
      findings.add(DiagId::QueueTooSmall, kernel.operations[consumer.op],
                   {"`" + queue.name + "`", text(needed), "its reserved buffer",
                    text(consumer.reservedBytes)});
    const Transfer *other = partner(transfers, transfer);
    if (other && other != &transfer)
      // Pairs are told at one of their ends, and a transfer is no partner of itself.
      judgeTransfers(queue, *other, transfer, isa<pto::TPushOp>(other->op), findings);
  }
}

void judgeQueues(const Kernel &kernel, const Machine &machine, Findings &findings) {
  judgeFlags(kernel, machine, findings);
  for (const Queue &queue : kernel.queues) {
    judgeSides(kernel, queue, findings);
    judgeTiles(kernel, queue, findings);
    const QueueSide &side = queue.consumer();
    // That a side is missing was reported above; there is nothing more to compare.
    if (side.op == kNone)
      continue;
    if (side.reservedBytes >= 0 && side.reservedBase < 0)
      // Without an address nothing can be said, and to say nothing would look like a proof.
      findings.undecided(kernel.operations[side.op],
                         "the reserved buffer of `" + queue.name + "` has no address");
    else if (side.reservedBytes >= 0)
      judgeArea(
          kernel.operations[side.reserveOp], [&] { return side.reserved; }, side.reservedPlace,
          side.reservedBase, side.reservedBytes, machine, findings);
  }
}

} // namespace ptl::prove
