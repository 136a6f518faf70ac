#include "passes/lower_block/plan_queues.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/limits.h"

#include "ir/dialect/pto_dialect.h"

#include "llvm/ADT/MapVector.h"

#include <limits>

using namespace mlir;

namespace ptl::block {

/// The usual number of slots of a queue. A direct queue takes the consumer's memory, so it has
/// fewer.
static int64_t slotsOf(const Machine &machine) {
  const CoreExchange &exchange = machine.exchange;
  return exchange.throughBuffer ? exchange.slotsTwoWay : exchange.slotsOneWay;
}

/// The number that the source sets for the pipe of a value (`ptl.slots`, `ptl.held`), otherwise
/// `usual`.
static int64_t saidOf(Value value, llvm::StringRef what, int64_t usual) {
  Operation *op = value.getDefiningOp();
  auto given = op ? op->getAttrOfType<IntegerAttr>(what) : nullptr;
  return given && given.getInt() > 0 ? given.getInt() : usual;
}

/// The number of slots that the producer can rely on: the consumer signals free slots in groups, so
/// some free slots may not be signalled yet.
static int64_t usableSlots(int64_t slots) { return slots - freedAtOnce(slots) + 1; }

/// The number of slots of the queue that a value goes through, at least `usable` of which can be
/// relied on: a machine has one number for queues in one direction and one for both. If neither is
/// enough, the number grows, and the prover reports what does not fit.
static int64_t numSlotsOf(Value value, const Machine &machine, int64_t usable = 1) {
  int64_t wanted = saidOf(value, attrs::slots, slotsOf(machine));
  const CoreExchange &exchange = machine.exchange;
  auto [few, many] = std::minmax(exchange.slotsOneWay, exchange.slotsTwoWay);
  for (int64_t slots : {few, many})
    if (wanted <= slots && usable <= usableSlots(slots))
      return slots;
  // Half of the slots may be free without being signalled.
  return std::max(2 * (usable - 1), many);
}

/// The capacities of the whole tile that crosses, before its rows are dealt to the vector cores.
static std::optional<std::pair<int64_t, int64_t>>
capacities(Value value, const llvm::DenseMap<StringAttr, int64_t> &bounds) {
  llvm::SmallVector<int64_t> extents;
  for (const ir::Extent &extent : ir::extentsOf(value.getType())) {
    int64_t capacity = capacityIn(extent, bounds);
    if (capacity < 0)
      return std::nullopt;
    extents.push_back(capacity);
  }
  if (extents.size() != 2)
    return std::nullopt;
  return std::pair{extents[0], extents[1]};
}

std::pair<Operation *, Operation *> usesOf(Value value, CoreKind core, const CoreAssignment &cores,
                                           Block *home) {
  home = home ? home : value.getParentBlock();
  Operation *first = nullptr, *last = nullptr;
  llvm::SmallVector<Value> names{value};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<ir::DimOp>(user))
        continue;
      if (isViewOfOperand(user) || isa<ir::ReshapeOp, ir::SliceOp>(user))
        // A view uses the same slot as its source.
        names.push_back(user->getResult(0));
      else if ((cores.coreOf(user) == CoreKind::Cube) != (core == CoreKind::Cube))
        continue;
      Operation *here = home->findAncestorOpInBlock(*user);
      // Uses outside of this block are found from their own block.
      if (!here)
        continue;
      first = first && first->isBeforeInBlock(here) ? first : here;
      last = last && here->isBeforeInBlock(last) ? last : here;
    }
  return {first, last};
}

/// Whether `core` reads nothing of `first` any more when it pops `second`, which comes after it.
static bool follows(Value second, Value first, CoreKind core, const CoreAssignment &cores) {
  Operation *done = usesOf(first, core, cores).second, *next = usesOf(second, core, cores).first;
  return !done || !next || done->getBlock() != next->getBlock() || done->isBeforeInBlock(next);
}

static bool isBefore(Operation *a, Operation *b) {
  return a && b && a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
}

/// The operation before which `core` pops each value of a queue, in the block where the values are
/// made; null if it pops at once. A queue is first in, first out, so a value is popped at the
/// latest where one that was pushed after it is needed.
static llvm::SmallVector<Operation *> popsOf(llvm::ArrayRef<Value> values, CoreKind consumer,
                                             const CoreAssignment &cores) {
  llvm::SmallVector<Operation *> pops;
  for (Value value : values)
    pops.push_back(usesOf(value, consumer, cores).first);
  // From the back: an earlier value is popped no later than a later one.
  for (size_t i = pops.size(); i-- > 1;)
    if (isBefore(pops[i], pops[i - 1]))
      pops[i - 1] = pops[i];
  return pops;
}

/// The most slots in the consumer's memory that are in use at once: from a value that is still read
/// to the last one that is popped until its last read.
static int64_t heldAtOnce(llvm::ArrayRef<Value> values, CoreKind consumer,
                          const CoreAssignment &cores) {
  size_t most = 1;
  llvm::SmallVector<Operation *> pops = popsOf(values, consumer, cores);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *last = usesOf(values[i], consumer, cores).second;
    for (size_t j = i + 1; j < values.size(); ++j)
      if (last && pops[j] && last->getBlock() == pops[j]->getBlock() &&
          !last->isBeforeInBlock(pops[j]))
        most = std::max(most, j - i + 1);
  }
  return static_cast<int64_t>(most);
}

/// The slots that a queue needs so that its producer can push all values that come before one which
/// the consumer waits for: they are made before it and needed only after it. `all` are the values
/// in the same direction.
static int64_t queuedAtOnce(llvm::ArrayRef<Value> values, llvm::ArrayRef<Value> all,
                            CoreKind consumer, const CoreAssignment &cores) {
  Value first = values.front();
  Block *home = first.getParentBlock();
  int64_t most = 1;
  for (Value awaited : all) {
    Operation *maker = awaited.getDefiningOp();
    Operation *made = maker ? home->findAncestorOpInBlock(*maker) : nullptr;
    Operation *needed = usesOf(awaited, consumer, cores, home).first;
    // Values of other blocks do not delay anything here.
    if (!made || !needed)
      continue;
    most = std::max<int64_t>(most, llvm::count_if(values, [&](Value value) {
                               auto [first, last] = usesOf(value, consumer, cores);
                               return last && !isBefore(made, value.getDefiningOp()) &&
                                      !isBefore(last, needed);
                             }));
  }
  return most;
}

/// The least number of slots that a queue needs to run without deadlock.
static int64_t queuedAtOnce(llvm::ArrayRef<Value> values, const CoreAssignment &cores) {
  bool toVector = llvm::is_contained(cores.toVector, values.front());
  return queuedAtOnce(values, toVector ? cores.toVector : cores.toCube,
                      toVector ? CoreKind::Vector : CoreKind::Cube, cores);
}

using Groups = std::vector<llvm::SmallVector<Value>>; ///< the values that go through each queue

/// The first flag of each pair that no other use reserves. A queue takes `flagsPerDirection`
/// consecutive flags.
static llvm::SmallVector<int64_t> firstFlags(const Machine &machine) {
  int64_t each = std::max<int64_t>(1, machine.exchange.flagsPerDirection);
  int64_t count = machine.crossCore.flags ? machine.crossCore.flags : 64;
  llvm::SmallVector<int64_t> firsts;
  for (int64_t first = 0; first + each <= count; first += each)
    // Some flags of the chip are reserved.
    if (llvm::none_of(machine.crossCore.reserved,
                      [&](int64_t flag) { return flag >= first && flag < first + each; }))
      firsts.push_back(first);
  return firsts;
}

/// The values in the order in which they are pushed, which is that of the code; the values of one
/// block are consecutive.
static llvm::SmallVector<Value> inOrder(llvm::ArrayRef<Value> values) {
  llvm::MapVector<Block *, llvm::SmallVector<Value>> blocks;
  for (Value value : values)
    blocks[value.getParentBlock()].push_back(value);
  llvm::SmallVector<Value> result;
  for (auto &[block, its] : blocks) {
    llvm::stable_sort(
        its, [](Value a, Value b) { return isBefore(a.getDefiningOp(), b.getDefiningOp()); });
    result.append(its);
  }
  return result;
}

/// One queue for each value, and one for all parts of a value; first those to the vector cores.
/// With `share`, values of one block with equal types also share a queue if they are popped in the
/// order in which they are pushed. If slots are in the consumer's memory, one must be freed before
/// the next is popped, because the library lets TFREE free the slot that was popped last.
static Groups groupsOf(const CoreAssignment &cores, const Machine &machine, bool share) {
  Groups queues;
  auto isAlike = [&](Value a, Value b) {
    PartOf partA = partOf(a), partB = partOf(b);
    // The parts of one value follow each other, so they can share a queue.
    if (partA.isPart() || partB.isPart())
      return partA.group == partB.group && partA.isPart() == partB.isPart();
    return share && a.getParentBlock() == b.getParentBlock() && a.getType() == b.getType();
  };
  // A queue goes one way, so values to one kind of core never join a queue to the other.
  for (const llvm::SmallVector<Value> *list : {&cores.toVector, &cores.toCube}) {
    size_t first = queues.size();
    CoreKind consumer = list == &cores.toVector ? CoreKind::Vector : CoreKind::Cube;
    auto takes = [&](const llvm::SmallVector<Value> &values, Value value) {
      return isAlike(values.front(), value) &&
             (!machine.exchange.throughBuffer || llvm::all_of(values, [&](Value earlier) {
               return follows(value, earlier, consumer, cores);
             }));
    };
    for (Value value : inOrder(*list)) {
      auto own = std::find_if(queues.begin() + static_cast<long>(first), queues.end(),
                              [&](const auto &values) { return takes(values, value); });
      if (own == queues.end())
        queues.push_back({value});
      else
        own->push_back(value);
    }
  }
  return queues;
}

/// The number of flag pairs for queues; the meetings of the cores take one pair.
static size_t flagsForQueues(const CoreAssignment &cores, const Machine &machine) {
  size_t pairs = firstFlags(machine).size();
  return cores.meetings.empty() ? pairs : pairs - std::min<size_t>(pairs, 1);
}

/// One queue for all values to the vector cores, and one for each side of products, whose operands
/// are sent right before the product (`handBeforeUse`).
static Groups mergedGroups(const CoreAssignment &cores) {
  auto isLeft = [](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<ir::MatmulOp>(user) && user->getOperand(0) == value;
    });
  };
  Groups queues(1, inOrder(cores.toVector));
  for (bool left : {true, false}) {
    llvm::SmallVector<Value> operands;
    llvm::copy_if(cores.toCube, std::back_inserter(operands),
                  [&](Value value) { return isLeft(value) == left; });
    queues.push_back(inOrder(operands));
  }
  llvm::erase_if(queues, [](const auto &values) { return values.empty(); });
  return queues;
}

bool sharesQueues(const CoreAssignment &cores, const Machine &machine) {
  return groupsOf(cores, machine, false).size() > flagsForQueues(cores, machine);
}

bool mergesQueues(const CoreAssignment &cores, const Machine &machine) {
  if (!sharesQueues(cores, machine))
    return false;
  Groups groups = groupsOf(cores, machine, true);
  int64_t slots = std::max(machine.exchange.slotsOneWay, machine.exchange.slotsTwoWay);
  // Merging is the last resort, since values in one queue wait for each other.
  return groups.size() > flagsForQueues(cores, machine) ||
         llvm::any_of(groups,
                      [&](const auto &values) { return queuedAtOnce(values, cores) > slots; });
}

static Groups plannedGroups(const CoreAssignment &cores, const Machine &machine) {
  return mergesQueues(cores, machine) ? mergedGroups(cores)
                                      : groupsOf(cores, machine, sharesQueues(cores, machine));
}

/// The bytes of a slot: those of the largest value; nullopt if some value has no static bound.
static std::optional<int64_t> slotBytesOf(llvm::ArrayRef<Value> values,
                                          const llvm::DenseMap<StringAttr, int64_t> &bounds) {
  int64_t most = 0;
  for (Value value : values) {
    auto extents = capacities(value, bounds);
    if (!extents)
      return std::nullopt;
    // Fractals of one-byte elements have 32 columns, and 32 rows when they are transposed.
    Type element = ir::elementTypeOf(value.getType());
    int64_t fractal = pto::elementBytes(element) == 1 ? 32 : 1;
    auto whole = [&](int64_t extent) { return roundUp(std::max<int64_t>(extent, 1), fractal); };
    most = std::max(most, pto::slotBytes(whole(extents->first), whole(extents->second), element));
  }
  return most;
}

int64_t turnsAhead(const CoreAssignment &cores, const Machine &machine,
                   const LowerOptions &options) {
  int64_t slots = std::numeric_limits<int64_t>::max() / 2;
  // The queue with the fewest slots limits how far ahead a core can run.
  for (const llvm::SmallVector<Value> *values : {&cores.toVector, &cores.toCube})
    for (Value value : *values)
      slots = std::min(slots, numSlotsOf(value, machine));
  // Values in a ring take no memory of a core, so their slots alone limit it.
  if (options.slices > 1)
    return std::min(2 * options.ahead, usableSlots(slots) - 1);
  // Each iteration ahead has the slots of all parts of a value in use.
  return std::min(options.ahead, 2 * slots / std::max<int64_t>(1, options.parts) - 1);
}

int64_t QueuePlan::workspaceBytes() const {
  int64_t total = 0;
  for (const Queue &queue : queues)
    total += queue.isRing ? 0 : queue.slots * queue.bytes;
  // The workspace is a whole number of 512-byte units.
  return (total + 511) / 512 * 512;
}

// ---- planning -----------------------------------------------------------------------------------

static std::optional<QueuePlan> plan(ir::ParallelOp grid, const CoreAssignment &cores,
                                     const Machine &machine, const Report &report) {
  QueuePlan result;
  result.merges = mergesQueues(cores, machine);
  Groups groups = plannedGroups(cores, machine);
  llvm::SmallVector<int64_t> flags = firstFlags(machine);
  size_t pairs = flagsForQueues(cores, machine);
  // Every queue needs flags of its own, and the chip has a fixed number of them.
  if (groups.size() > pairs) {
    report(DiagId::NotOnBlockLevel, grid.getLoc(),
           {std::to_string(groups.size()) + " pipes between cores, with flags for " +
                std::to_string(pairs),
            machine.name});
    return std::nullopt;
  }
  // Queues take the first pairs of flags, and meetings the next one.
  if (!cores.meetings.empty())
    result.meetingFlag = flags[groups.size()];
  llvm::DenseMap<StringAttr, int64_t> bounds = capacitiesOf(grid);
  int64_t usuallyHeld = choicesOf(grid).queueSlots;
  bool isDirect = machine.exchange.throughBuffer;
  for (auto [number, values] : llvm::enumerate(groups)) {
    Value first = values.front();
    std::optional<int64_t> bytes = slotBytesOf(values, bounds);
    if (!bytes) {
      report(DiagId::NotOnBlockLevel, first.getLoc(),
             {"a value without a static bound that crosses between cores", machine.name});
      return std::nullopt;
    }
    Queue queue;
    queue.toVector = llvm::is_contained(cores.toVector, first);
    int64_t read =
        result.merges && queue.toVector // It is copied when it is popped.
            ? 1
            : heldAtOnce(values, queue.toVector ? CoreKind::Vector : CoreKind::Cube, cores);
    queue.held = std::max(saidOf(first, attrs::hold, usuallyHeld), read);
    int64_t queued = result.merges ? 1 : queuedAtOnce(values, cores);
    // In the consumer's memory the producer needs a slot beside those that are still being read, or it would wait until the last of them
    // has been given back.
    queue.slots = numSlotsOf(first, machine, isDirect ? std::max(read + 1, queued) : queued);
    queue.bytes = *bytes;
    queue.flag = flags[number];
    queue.isRing = choicesOf(grid).slices > 1;
    // A ring holds nothing in the consumer's memory.
    if (queue.isRing)
      queue.held = 0;
    queue.values = std::move(values);
    result.queues.push_back(std::move(queue));
  }
  return result;
}

// ---- writing ------------------------------------------------------------------------------------

/// Adds the number of a queue for one result; `ptl.queue` is parallel to `ptl.crosses`.
static void markValue(OpResult value, int64_t number) {
  Operation *op = value.getOwner();
  auto results = attrs::crosses.of(op);
  llvm::SmallVector<int64_t> numbers(static_cast<size_t>(results.size()), 0);
  if (auto known = attrs::queue.of(op))
    // Other results of the operation may have queues already.
    numbers.assign(known.asArrayRef().begin(), known.asArrayRef().end());
  auto at =
      llvm::find(results.asArrayRef(), value.getResultNumber()) - results.asArrayRef().begin();
  numbers[static_cast<size_t>(at)] = number;
  attrs::queue.set(op, numbers);
}

bool markQueues(ir::ParallelOp grid, const Machine &machine, const Report &report) {
  CoreAssignment cores = markedCores(grid);
  if (attrs::manual.isOn(grid) || !cores.isMixed())
    return true;
  std::optional<QueuePlan> made = plan(grid, cores, machine, report);
  if (!made)
    return false;
  Builder b(grid.getContext());
  llvm::SmallVector<Attribute> queues;
  auto number = [&](llvm::StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  // The plan is written to attributes and read again (`markedQueues`), so that what lowers the two cores sees one plan, and so that the
  // verifier judges the plan that they see.
  for (auto [i, queue] : llvm::enumerate(made->queues)) {
    queues.push_back(
        b.getDictionaryAttr({b.getNamedAttr("to", b.getStringAttr(queue.toVector ? "aiv" : "aic")),
                             number("flag", queue.flag), number("slots", queue.slots),
                             number("held", queue.held), number("bytes", queue.bytes)}));
    for (Value value : queue.values)
      markValue(cast<OpResult>(value), static_cast<int64_t>(i));
  }
  attrs::queues.set(grid, queues);
  if (made->merges)
    attrs::merged.set(grid);
  if (!cores.meetings.empty())
    attrs::meetingFlag.set(grid, made->meetingFlag);
  return true;
}

// ---- reading ------------------------------------------------------------------------------------

/// The queue number of a result that crosses; -1 if there is no mark.
static int64_t queueOf(OpResult value) {
  auto results = attrs::crosses.of(value.getOwner());
  auto queues = attrs::queue.of(value.getOwner());
  if (results && queues && results.size() == queues.size())
    for (auto [result, queue] : llvm::zip(results.asArrayRef(), queues.asArrayRef()))
      if (result == value.getResultNumber())
        return queue;
  return -1;
}

QueuePlan markedQueues(ir::ParallelOp grid, const CoreAssignment &cores) {
  QueuePlan plan;
  plan.merges = attrs::merged.isOn(grid);
  if (auto flag = attrs::meetingFlag.of(grid))
    plan.meetingFlag = flag.getInt();
  if (auto queues = attrs::queues.of(grid))
    for (auto given : queues.getAsRange<DictionaryAttr>()) {
      auto number = [&](llvm::StringRef name) {
        auto value = given.getAs<IntegerAttr>(name);
        return value ? value.getInt() : 0;
      };
      Queue queue;
      auto to = given.getAs<StringAttr>("to");
      queue.toVector = to && to.getValue() == "aiv";
      queue.flag = number("flag");
      queue.slots = number("slots");
      queue.held = number("held");
      queue.isRing = queue.held == 0; // It holds nothing in the consumer's memory.
      queue.bytes = number("bytes");
      plan.queues.push_back(std::move(queue));
    }
  for (Value value : llvm::concat<const Value>(cores.toVector, cores.toCube)) {
    int64_t number = queueOf(cast<OpResult>(value));
    if (number >= 0 && number < static_cast<int64_t>(plan.queues.size()))
      plan.queues[static_cast<size_t>(number)].values.push_back(value);
  }
  for (Queue &queue : plan.queues)
    // The order is not marked; it is computed as in planning.
    queue.values = inOrder(queue.values);
  return plan;
}

// ---- verifying ----------------------------------------------------------------------------------

/// Verifies one queue: its values fit, and a direct queue reads them one after the other.
static LogicalResult verifyQueue(ir::ParallelOp grid, const Queue &queue, bool merges,
                                 const CoreAssignment &cores, const Machine &machine) {
  if (queue.slots < 1 || queue.held < 0)
    return grid.emitError("a queue has no slots");
  if (queue.isRing && (machine.exchange.throughBuffer || queue.values.size() > 1))
    return grid.emitError("a queue without a place in the consumer's memory needs slots in global "
                          "memory, and one value");
  std::optional<int64_t> bytes = slotBytesOf(queue.values, capacitiesOf(grid));
  if (!bytes || *bytes > queue.bytes)
    return grid.emitError("the slots of a queue are smaller than the values that it carries");
  CoreKind consumer = queue.toVector ? CoreKind::Vector : CoreKind::Cube;
  for (auto [i, value] : llvm::enumerate(queue.values)) {
    if (llvm::is_contained(cores.toVector, value) != queue.toVector)
      return value.getDefiningOp()->emitError("its queue runs in the opposite direction");
    bool isShared = i > 0 && machine.exchange.throughBuffer && !merges;
    auto isOver = [&](Value earlier) { return follows(value, earlier, consumer, cores); };
    if (isShared && !llvm::all_of(llvm::ArrayRef(queue.values).take_front(i), isOver))
      return value.getDefiningOp()->emitError(
          "it is popped while the value popped before it is still read");
  }
  return success();
}

LogicalResult verifyQueues(ir::ParallelOp grid, const Machine &machine) {
  CoreAssignment cores = markedCores(grid);
  if (attrs::manual.isOn(grid) || !cores.isMixed())
    return success();
  QueuePlan plan = markedQueues(grid, cores);
  llvm::SmallVector<int64_t> flags = firstFlags(machine), used;
  for (const Queue &queue : plan.queues) {
    if (failed(verifyQueue(grid, queue, plan.merges, cores, machine)))
      return failure();
    used.push_back(queue.flag);
  }
  if (llvm::any_of(plan.queues, [](const Queue &queue) { return queue.values.empty(); }))
    return grid.emitError("a queue carries no value");
  // Meetings have a pair of events of their own. One of a queue would be signalled by both, and each would take the signal of the other.
  if (!cores.meetings.empty())
    used.push_back(plan.meetingFlag);
  for (auto [i, flag] : llvm::enumerate(used))
    if (!llvm::is_contained(flags, flag) ||
        llvm::is_contained(llvm::ArrayRef(used).take_front(i), flag))
      return grid.emitError() << "the event " << flag
                              << " between cores does not exist or is used twice";
  for (Value value : llvm::concat<const Value>(cores.toVector, cores.toCube))
    if (queueOf(cast<OpResult>(value)) < 0 ||
        queueOf(cast<OpResult>(value)) >= static_cast<int64_t>(plan.queues.size()))
      return value.getDefiningOp()->emitError("it crosses between cores without a queue");
  return success();
}

} // namespace ptl::block
