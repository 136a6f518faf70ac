#include "passes/lower_block/rings.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/stage_operands.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

void signalCores(KernelContext &c, bool isSet, pto::PipeKind pipe, int64_t id, Location loc,
                 ValueRange arrays) {
  auto kind = pto::PipeKindAttr::get(c.b.getContext(), pipe);
  Value number = constant(c, id);
  Operation *op = isSet ? c.b.create<pto::SyncSetOp>(loc, kind, number, arrays).getOperation()
                        : c.b.create<pto::SyncWaitOp>(loc, kind, number, arrays).getOperation();
  // The prover wants to know which ids an operation may use.
  attrs::ids.set(op, {id, 1});
}

const Ring *ringOf(KernelContext &c, Value value) {
  auto found = c.rings.find(value);
  return found == c.rings.end() ? nullptr : &found->second;
}

/// The pipe on which this core stores what it makes.
static pto::PipeKind storePipe(const KernelContext &c) {
  return c.core == CoreKind::Cube ? pto::PipeKind::PIPE_FIX : pto::PipeKind::PIPE_MTE3;
}

void openRing(KernelContext &c, size_t number, Value group) {
  const Queue &queue = c.plan.queues[number];
  Value value = queue.values.front();
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(value.getType());
  Ring ring;
  ring.element = ir::elementTypeOf(value.getType());
  ring.rows = capacityIn(extents[0], c.capacities);
  // Rows of a slot are as long as the whole slot allows.
  ring.cols = queue.bytes / ring.rows / pto::elementBytes(ring.element);
  ring.slots = queue.slots;
  ring.period = freedAtOnce(queue.slots);
  ring.flag = queue.flag;
  ring.toVector = queue.toVector;
  auto [memory, name] = c.ringMemory.lookup(number);
  Value first = c.b.createOrFold<arith::MulIOp>(c.loc, group,
                                                constant(c, ring.slots * ring.rows * ring.cols));
  ring.name = name;
  ring.pointer = c.b.create<pto::AddPtrOp>(named(c, value), memory.getType(), memory, first);
  c.pointerNames[ring.pointer] = name;
  c.rings[value] = ring;
}

int64_t productsAtOnce(const CoreAssignment &cores, const LowerOptions &options) {
  bool follow = options.slices > 1 && cores.toCube.empty() &&
                llvm::all_of(cores.toVector, crossesByPoint) &&
                llvm::all_of(cores.cube, [](Operation *op) {
                  return !isa<ir::MatmulOp>(op) || isa<ir::ParallelOp>(op->getParentOp());
                });
  return follow ? 1 : cores.numProducts;
}

RingProduct ringProduct(int64_t rows, int64_t cols, int64_t products, const Machine &machine) {
  const MemorySpace *acc = machine.space("acc");
  int64_t share = (acc ? acc->usableBytes() : 0) / std::max<int64_t>(1, products);
  auto bytes = [&](int64_t n) { return 4 * roundUp(rows, int64_t(16)) * roundUp(n, int64_t(16)); };
  // Products that fit are computed whole; those that fit twice also overlap with their stores.
  if (bytes(cols) <= share)
    return {cols, 2 * bytes(cols) <= share};
  int64_t part = roundUp(cols, int64_t(16));
  while (part > 16 && 2 * bytes(part) > share)
    part = roundUp(part / 2, int64_t(16));
  return {part, true};
}

bool crossesByPoint(Value value) {
  return isa<ir::ParallelOp>(value.getParentBlock()->getParentOp());
}

Value numberOfRound(KernelContext &c, Value value) {
  return crossesByPoint(value) ? c.gridRound : c.rotations.back().slot;
}

// ---- slots --------------------------------------------------------------------------------------

/// The memory of the slot of a round.
static MemoryBox boxOf(KernelContext &c, const Ring &ring, Value number, Location loc) {
  MemoryBox box;
  box.pointer = ring.pointer;
  box.matrixRows = constant(c, ring.slots * ring.rows);
  box.matrixCols = box.rowStride = constant(c, ring.cols);
  // Rounds go round the ring.
  Value slot = c.b.createOrFold<arith::RemUIOp>(loc, number, constant(c, ring.slots));
  box.row = c.b.createOrFold<arith::MulIOp>(loc, slot, constant(c, ring.rows));
  box.col = constant(c, 0);
  return box;
}

static void when(KernelContext &c, Value holds, Location loc, llvm::function_ref<void()> body) {
  auto branch = c.b.create<scf::IfOp>(loc, holds, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  body();
}

/// The round is the first of those whose slots are given back together.
static Value beginsPeriod(KernelContext &c, const Ring &ring, Value number, Location loc) {
  Value rest = c.b.createOrFold<arith::RemUIOp>(loc, number, constant(c, ring.period));
  return c.b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest, constant(c, 0));
}

void awaitSlot(KernelContext &c, const Ring &ring, Value number, Location loc) {
  // In the first rounds no slot has been used yet, and nobody has given one back.
  Value isUsed =
      c.b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, number, constant(c, ring.slots));
  // Slots are given back several at a time, so only the first round of a period waits.
  if (ring.period > 1)
    isUsed = c.b.create<arith::AndIOp>(loc, isUsed, beginsPeriod(c, ring, number, loc));
  when(c, isUsed, loc, [&] { signalCores(c, /*isSet=*/false, storePipe(c), ring.flag + 1, loc); });
}

void storeToSlot(KernelContext &c, const Ring &ring, Value number, const Tile &tile, Value row,
                 Value col, Location loc) {
  MemoryBox box = boxOf(c, ring, number, loc);
  if (row)
    box.row = c.b.createOrFold<arith::AddIOp>(loc, box.row, row);
  if (col)
    box.col = col;
  Value view = partition(c, box, tile.extents, ring.element, loc, false);
  emit(c, loc, InstructionId::TStore, {tile.buffer}, {view});
}

void fillSlot(KernelContext &c, const Ring &ring, Location loc) {
  signalCores(c, /*isSet=*/true, storePipe(c), ring.flag, loc);
}

void pushSlices(KernelContext &c, Operation *join) {
  const Ring ring = *ringOf(c, join->getResult(0));
  Location loc = named(c, join->getResult(0));
  Value number = numberOfRound(c, join->getResult(0));
  // The wait stands as late as possible, in front of the first store.
  awaitSlot(c, ring, number, loc);
  int64_t before = 0;
  for (Value slice : join->getOperands()) {
    const Tile *found = tileOf(c, slice);
    if (!found)
      return fail(c, join, "this value crossing between cores");
    Tile tile = materialise(c, *found, loc);
    const ir::Extent &rows = ir::extentsOf(slice.getType())[0];
    Value first = constant(c, before);
    if (c.cores.deals(rows.symbol)) {
      Value own = c.b.createOrFold<arith::MulIOp>(loc, c.subblock, constant(c, tile.extents.rows));
      first = before ? c.b.createOrFold<arith::AddIOp>(loc, own, first) : own;
    }
    storeToSlot(c, ring, number, tile, first, {}, loc);
    // Slices follow each other by their capacities, so that both sides agree on where rows lie.
    before += capacityIn(rows, c.capacities);
  }
  fillSlot(c, ring, loc);
}

void pushAccumulator(KernelContext &c, Value value) {
  const Ring ring = *ringOf(c, value);
  const Tile *tile = tileOf(c, value);
  Location loc = named(c, value);
  Value number = numberOfRound(c, value);
  awaitSlot(c, ring, number, loc);
  storeToSlot(c, ring, number, *tile, {}, {}, loc);
  fillSlot(c, ring, loc);
}

// ---- the consumer -------------------------------------------------------------------------------

/// The last operation that loads from the slot that holds a value.
static Operation *lastLoadOf(Value value) {
  Operation *last = nullptr;
  for (Operation *user : value.getUsers())
    if (isa<ir::SliceOp, ir::MatmulOp>(user))
      if (Operation *here = value.getParentBlock()->findAncestorOpInBlock(*user))
        last = last && here->isBeforeInBlock(last) ? last : here;
  return last;
}

static void giveBack(KernelContext &c, const Ring &ring, Value number, Location loc) {
  auto set = [&] { signalCores(c, /*isSet=*/true, pto::PipeKind::PIPE_MTE2, ring.flag + 1, loc); };
  if (ring.period == 1)
    return set();
  Value next = c.b.create<arith::AddIOp>(loc, number, constant(c, 1));
  when(c, beginsPeriod(c, ring, next, loc), loc, set);
}

void takeSlot(KernelContext &c, Value value) {
  const Ring ring = *ringOf(c, value);
  Location loc = named(c, value);
  std::optional<Extents2> extents = tileExtentsOf(c, value.getDefiningOp(), value.getType());
  if (!extents)
    return;
  Value number = numberOfRound(c, value);
  signalCores(c, /*isSet=*/false, pto::PipeKind::PIPE_MTE2, ring.flag, loc);
  Tile slot;
  slot.form = Form::Memory;
  slot.extents = *extents;
  slot.element = ring.element;
  slot.box = boxOf(c, ring, number, loc);
  // Slices are loaded by the vector cores, pieces by the product.
  if (c.core == CoreKind::Vector || isInPieces(value.getDefiningOp())) {
    setTile(c, value, slot);
    c.taken.push_back({value, number, lastLoadOf(value)});
    return;
  }
  Tile loaded = slot;
  loaded.form = Form::Matrix;
  loaded.box = {};
  loaded.buffer = allocate(c, ir::Place::Mat, "nz", slot.extents, slot.element, loc,
                           /*rotates=*/true);
  Value view = partition(c, slot.box, slot.extents, slot.element, loc, false);
  emit(c, loc, InstructionId::TLoad, {view}, {loaded.buffer});
  setTile(c, value, loaded);
  // All of it has been loaded to `mat`.
  giveBack(c, ring, number, loc);
}

/// The slices of a slot take turns in so many buffers.
static constexpr int64_t kSliceBuffers = 2;

/// The next slice that is loaded to the buffer of this one; null: there is none.
static Operation *loadedOver(Value slice) {
  PartOf own = partOf(slice);
  Operation *next = nullptr;
  if (own.isPart())
    for (auto other : slice.getParentBlock()->getOps<ir::SliceOp>())
      if (PartOf part = partOf(other.getResult());
          part.group == own.group && part.number % kSliceBuffers == own.number % kSliceBuffers &&
          slice.getDefiningOp()->isBeforeInBlock(other) && (!next || other->isBeforeInBlock(next)))
        next = other;
  return next;
}

bool outlivesSlice(KernelContext &c, Value result, Value slice) {
  Operation *over = loadedOver(slice);
  if (!over)
    return false;
  Operation *last = usesOf(result, c.core, c.cores, over->getBlock()).second;
  return last && !last->isBeforeInBlock(over);
}

void loadSlice(KernelContext &c, Operation *slice, const Tile &slot) {
  BoxOperands in = operandsOf(slice);
  Value result = slice->getResult(0);
  Location loc = slice->getLoc();
  const ir::Extent &rows = ir::extentsOf(result.getType())[0];
  Tile part = slot;
  part.extents.rows = capacityOf(c, rows);
  part.extents.validRows = dealt(c, scalarOf(c, in.lengths[0]), rows);
  Value first = scalarOf(c, in.offsets[0]);
  if (c.cores.deals(rows.symbol))
    first = c.b.createOrFold<arith::AddIOp>(
        loc, first,
        c.b.createOrFold<arith::MulIOp>(loc, c.subblock, constant(c, part.extents.rows)));
  // Rows that are not there are loaded all the same, from the last one: nobody stores what is
  // computed with them.
  Value last = c.b.createOrFold<arith::SubIOp>(loc, slot.extents.validRows, constant(c, 1));
  part.box.row = c.b.createOrFold<arith::AddIOp>(loc, slot.box.row, minimum(c, first, last));
  if (rows.symbol)
    c.lengths[rows.symbol] = part.extents.validRows;
  // Slices take turns in their buffers, but for those that are read for longer.
  c.part = outlivesSlice(c, result, result) ? PartOf{} : partOf(result);
  c.productRotations = c.rotations.size();
  c.productBuffers.clear();
  Tile loaded = load(c, part, loc);
  c.part = {};
  c.slices[pto::rootOf(loaded.buffer)] = result;
  setTile(c, result, loaded);
}

void giveSlotsBack(KernelContext &c, Operation *after) {
  llvm::erase_if(c.taken, [&](const TakenSlot &slot) {
    if (slot.last != after)
      return false;
    giveBack(c, *ringOf(c, slot.value), slot.number, named(c, slot.value));
    return true;
  });
}

// ---- behind a loop ------------------------------------------------------------------------------

static void drain(KernelContext &c, Value value, Value rounds, Location loc) {
  const Ring ring = *ringOf(c, value);
  bool isConsumer = ring.toVector == (c.core == CoreKind::Vector);
  Value period = constant(c, ring.period);
  if (isConsumer && ring.period > 1) { // those of the last period, if it is not full
    Value rest = c.b.createOrFold<arith::RemUIOp>(loc, rounds, period);
    Value some = c.b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, rest, constant(c, 0));
    when(c, some, loc,
         [&] { signalCores(c, /*isSet=*/true, pto::PipeKind::PIPE_MTE2, ring.flag + 1, loc); });
  } else if (!isConsumer) { // what no round has waited for
    Value signals = c.b.createOrFold<arith::CeilDivSIOp>(loc, rounds, period);
    // Rounds have waited for all signals but those of the last time around the ring.
    Value left = minimum(c, signals, constant(c, ring.slots / ring.period));
    auto drain = c.b.create<scf::ForOp>(loc, constant(c, 0), left, constant(c, 1));
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(drain.getBody());
    signalCores(c, /*isSet=*/false, storePipe(c), ring.flag + 1, loc);
  }
}

/// The values of a block that cross by rings.
static llvm::SmallVector<Value> ringsOf(const KernelContext &c, Block *block) {
  llvm::SmallVector<Value> own;
  for (const Queue &queue : c.plan.queues)
    for (Value value : queue.values)
      if (queue.isRing && value.getParentBlock() == block)
        own.push_back(value);
  return own;
}

void drainRings(KernelContext &c, scf::ForOp loop) {
  llvm::SmallVector<Value> own = ringsOf(c, loop.getBody());
  if (own.empty())
    return;
  Location loc = loop.getLoc();
  auto bound = [&](Value value) { return scalarOf(c, value); };
  Value length = c.b.createOrFold<arith::SubIOp>(loc, bound(loop.getUpperBound()),
                                                 bound(loop.getLowerBound()));
  length = c.b.createOrFold<arith::MaxSIOp>(loc, length, constant(c, 0));
  Value rounds = c.b.createOrFold<arith::CeilDivSIOp>(loc, length, bound(loop.getStep()));
  for (Value value : own)
    drain(c, value, rounds, loc);
}

void drainRings(KernelContext &c, ir::ParallelOp grid, Value rounds) {
  for (Value value : ringsOf(c, &grid.getBody().front()))
    drain(c, value, rounds, grid.getLoc());
}

} // namespace ptl::block
