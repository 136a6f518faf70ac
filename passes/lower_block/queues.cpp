// Values that cross between the cube and the vector cores: one queue per value, pushed where it is
// made and popped at the same place on the other side.
#include "passes/lower_block/queues.h"
#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/store_boxes.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

static bool directQueues(const KernelContext &c);
static void push(KernelContext &c, mlir::Value value, mlir::Value queue);
static void pop(KernelContext &c, mlir::Value value, mlir::Value queue, bool toVector);

llvm::SmallVector<Value> pointersMet(KernelContext &c) {
  llvm::SmallVector<Value> pointers;
  for (Value array : c.cores.metOver)
    pointers.push_back(c.pointers.lookup(array));
  return pointers;
}

void meet(KernelContext &c, Location loc) {
  llvm::SmallVector<Value> arrays = pointersMet(c);
  auto flag = [&](bool isSet, pto::PipeKind kind, int64_t id) {
    signalCores(c, isSet, kind, id, loc, arrays);
  };
  auto [toCube, fromCube] = std::pair(c.plan.meetingFlag, c.plan.meetingFlag + 1);
  if (c.core == CoreKind::Vector) {
    // Each side signals behind its stores and waits before its loads.
    flag(/*isSet=*/true, pto::PipeKind::PIPE_MTE3, toCube);
    flag(/*isSet=*/false, pto::PipeKind::PIPE_MTE2, fromCube);
  } else {
    flag(/*isSet=*/false, pto::PipeKind::PIPE_FIX, toCube);
    flag(/*isSet=*/true, pto::PipeKind::PIPE_FIX, fromCube);
  }
}

/// Memory of the consumer for what it pops: its address, or that of the other side's.
static Value consumerMemory(KernelContext &c, const Queue &queue, const std::string &name,
                            Location loc) {
  bool direct = directQueues(c), isConsumer = queue.toVector == (c.core == CoreKind::Vector);
  // Each of the two vector cores gets half of what is dealt.
  int64_t local = queue.toVector && !c.cores.dealt.empty() ? queue.bytes / 2 : queue.bytes;
  int64_t bytes = direct ? queue.slots * local : heldBytes(queue.held, queue.bytes, local);
  if (isConsumer)
    return c.b.create<pto::ReserveBufferOp>(loc, c.b.getI32Type(), c.b.getStringAttr(name),
                                            c.b.getI32IntegerAttr(static_cast<int32_t>(bytes)),
                                            c.b.getStringAttr(queue.toVector ? "vec" : "mat"),
                                            c.b.getBoolAttr(true), IntegerAttr());
  // The producer writes to the memory of the consumer, so it needs the address.
  if (direct)
    return c.b.create<pto::ImportReservedBufferOp>(
        loc, c.b.getI32Type(), c.b.getStringAttr(name),
        FlatSymbolRefAttr::get(c.b.getContext(), c.peer));
  // Through global memory the producer does not use the address.
  return c.b.create<arith::ConstantIntOp>(c.loc, 0, 32);
}

/// Opens one queue on this side. `offset`: of its ring in the workspace of a core group.
static Value openQueue(KernelContext &c, const Queue &queue, const std::string &name, Value group,
                       int64_t offset) {
  MLIRContext *context = c.b.getContext();
  Location loc = named(c, queue.values.front());
  auto word = [&](int64_t size) { return c.b.getI32IntegerAttr(static_cast<int32_t>(size)); };
  Value address = consumerMemory(c, queue, name, loc);
  auto mask = c.b.getI8IntegerAttr(queue.toVector ? 1 : 2);
  BoolAttr nosplit = !c.cores.dealt.empty() ? BoolAttr() : c.b.getBoolAttr(true);
  auto handle = pto::PipeHandleType::get(context);
  if (directQueues(c))
    return c.b.create<pto::InitializeL2LPipeOp>(loc, handle, mask, word(queue.bytes),
                                                word(queue.slots), IntegerAttr(), word(queue.flag),
                                                nosplit, address);
  // Each core group has its own ring in the workspace.
  Value first = c.b.createOrFold<arith::MulIOp>(c.loc, group, constant(c, c.workspaceBytes / 4));
  first = c.b.createOrFold<arith::AddIOp>(c.loc, first, constant(c, offset / 4));
  Value ring = c.b.create<pto::AddPtrOp>(loc, c.workspace.getType(), c.workspace, first);
  return c.b.create<pto::InitializeL2G2LPipeOp>(loc, handle, mask, word(queue.bytes),
                                                word(queue.slots), word(queue.held),
                                                word(queue.flag), nosplit, ring, address);
}

void openQueues(KernelContext &c) {
  if (!c.cores.isMixed())
    return;
  Value group = c.b.create<pto::GetBlockIdxOp>(c.loc, c.b.getI64Type());
  group = c.b.create<arith::IndexCastOp>(c.loc, c.b.getIndexType(), group);
  int64_t offset = 0;
  for (auto [number, queue] : llvm::enumerate(c.plan.queues)) {
    if (queue.isRing) {
      openRing(c, number, group);
      continue;
    }
    Value opened = openQueue(c, queue, "queue" + std::to_string(number), group, offset);
    for (Value each : queue.values)
      // Values that share a queue are told apart by their order.
      c.queues[each] = opened;
    offset += queue.slots * queue.bytes;
  }
}

/// The same for a value that goes through a ring. Its producer has stored it where it was made,
/// unless that is an accumulator which was finished here.
static void crossRing(KernelContext &c, Value value, const Ring &ring) {
  // This is the producer.
  if (ring.toVector == (c.core == CoreKind::Cube)) {
    if (c.core == CoreKind::Cube && tileOf(c, value))
      pushAccumulator(c, value);
  } else if (Operation *first = usesOf(value, c.core, c.cores).first) {
    c.waiting.push_back({ring.pointer, value, first});
  } else {
    fail(c, value.getDefiningOp(), "a value that crosses to a core that does not read it");
  }
}

void cross(KernelContext &c, Value value) {
  if (const Ring *ring = ringOf(c, value); ring && !c.failed)
    return crossRing(c, value, *ring);
  Value queue = c.queues.lookup(value);
  if (!queue || c.failed)
    return;
  bool toVector = llvm::is_contained(c.cores.toVector, value);
  if (toVector == (c.core == CoreKind::Cube))
    return push(c, value, queue);
  if (c.plan.merges) // at once, so that both sides go through a queue in the order of the program
    return pop(c, value, queue, toVector);
  // Popped where it is needed first, so that what does not need it goes on before.
  if (auto [first, last] = usesOf(value, c.core, c.cores); first)
    c.waiting.push_back({queue, value, first});
  else
    pop(c, value, queue, toVector);
}

void popFor(KernelContext &c, Operation *op) {
  llvm::SmallDenseSet<Value, 4> due;
  for (const Waiting &each : c.waiting)
    if (each.user == op)
      due.insert(each.queue);
  if (due.empty())
    return;
  llvm::SmallVector<Waiting> all = std::move(c.waiting);
  auto last = [&](Value queue) { // the last one that this operation needs
    size_t at = 0;
    for (auto [i, each] : llvm::enumerate(all))
      if (each.queue == queue && each.user == op)
        at = i;
    return at;
  };
  c.waiting.clear();
  for (auto [i, each] : llvm::enumerate(all))
    // What was pushed before has to be popped before.
    if (due.contains(each.queue) && i <= last(each.queue))
      pop(c, each.value, each.queue, llvm::is_contained(c.cores.toVector, each.value));
    else
      c.waiting.push_back(each);
}

/// Rows of the boxes that the cube core keeps matrices in.
static constexpr int64_t kBoxRows = 16;
static int64_t boxesOf(int64_t rows) { return roundUp(rows, kBoxRows); }

/// The first rows and columns of a buffer as a tile of `type`.
static Value firstOf(KernelContext &c, Value buffer, pto::TileBufType type, const Extents2 &extents,
                     Location loc) {
  auto whole = cast<pto::TileBufType>(buffer.getType());
  if (whole.getRows() == type.getRows() && whole.getCols() == type.getCols())
    return reshape(c, buffer, type, extents.validRows, extents.validCols);
  return c.b.create<pto::SubsetOp>(
      loc, type, buffer, constant(c, 0), constant(c, 0),
      type.getValidRows() == pto::kDynamic ? extents.validRows : Value(),
      type.getValidCols() == pto::kDynamic ? extents.validCols : Value());
}

/// Between tiles of one value whose rows may be padded otherwise.
static void copyRows(KernelContext &c, const Tile &from, Value to, Location loc) {
  auto type = crossingType(c, ir::Place::Vec, "nd", from.extents, from.element);
  Tile source = from, target = from;
  source.buffer = firstOf(c, from.buffer, type, from.extents, loc);
  target.buffer = firstOf(c, to, type, from.extents, loc);
  auto colsOf = [](Value buffer) { return cast<pto::TileBufType>(buffer.getType()).getCols(); };
  // Moves take tiles whose rows have one length. Arithmetic that changes nothing takes others, too.
  bool isReal = isa<FloatType>(from.element);
  InstructionId id = isReal ? InstructionId::TMuls : InstructionId::TAdds;
  if (colsOf(from.buffer) == colsOf(to) || !takes(c, id, {from.element}))
    return copy(c, source, target, loc);
  c.loc = loc;
  emit(c, loc, id, {source.buffer, constantOf(c, from.element, isReal ? 1 : 0)}, {target.buffer});
}

static void push(KernelContext &c, Value value, Value queue) {
  Location loc = named(c, value);
  const Tile *found = tileOf(c, value);
  if (!found) {
    fail(c, value.getDefiningOp(), "this value crossing between cores");
    return;
  }
  // An accumulator is pushed as it is.
  Tile tile = found->form == Form::Acc ? *found : materialise(c, *found, loc);
  if (tile.form == Form::Column) { // as the first column of a matrix
    c.loc = loc;
    tile.buffer = apart(c, tile.buffer, tile.extents.rows, tile.extents.validRows, tile.element);
  }
  // Slots have the whole capacity, so that both sides agree on where rows lie. The cube core has
  // boxes of rows: a tile of fewer goes in a buffer of as many, one with longer rows in one with
  // those of boxes.
  Extents2 boxes = tile.extents;
  boxes.rows = boxesOf(boxes.rows);
  auto type = cast<pto::TileBufType>(tile.buffer.getType()),
       slot = crossingType(c, ir::Place::Vec, "nd", boxes, tile.element);
  if (c.core == CoreKind::Vector &&
      (type.getRows() % kBoxRows || type.getCols() != slot.getCols())) {
    Value padded = allocateCrossing(c, boxes, tile.element, loc);
    copyRows(c, tile, padded, loc);
    tile.buffer = padded;
  }
  // Products leave the rows that they have close together, which only an accumulator of as many says.
  // Where accumulators go straight to the buffers of vector cores, halves of all rows go to each.
  type = cast<pto::TileBufType>(tile.buffer.getType());
  Value pushed = tile.form == Form::Acc && !c.machine.exchange.throughBuffer
                     ? reshape(c, tile.buffer, type.withValid(type.getValidRows(), type.getCols()),
                               tile.extents.validRows, {})
                     : fullView(c, tile.buffer);
  c.b.create<pto::TPushOp>(loc, pushed, queue, c.b.getI8IntegerAttr(c.cores.dealt.empty() ? 0 : 1));
}

/// A matrix of one column, as products leave it, the way in which columns are kept.
static Tile asColumn(KernelContext &c, const Tile &matrix, Type type, Location loc) {
  Tile column = matrix;
  column.form = Form::Column;
  column.buffer = allocateLike(c, column, loc);
  if (takes(c, InstructionId::TRowSum, {matrix.element})) { // each sum has one element
    Value scratch = allocateCrossing(c, matrix.extents, matrix.element, loc);
    emit(c, loc, InstructionId::TRowSum, {matrix.buffer, scratch}, {columnView(c, column)});
    return column;
  }
  ShapedTile from = shaped(c, matrix, type), to = shaped(c, column, type);
  Movement movement;
  movement.lengths = IndexVector(to.lengths);
  movement.ends = [](Indices at) {
    return Ends{IndexVector(at.begin(), at.end()), IndexVector(at.begin(), at.end())};
  };
  move(c, from, to, movement, loc);
  return column;
}

static void pop(KernelContext &c, Value value, Value queue, bool toVector) {
  if (ringOf(c, value))
    return takeSlot(c, value);
  Location loc = named(c, value);
  Operation *op =
      value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
  std::optional<Tile> made = tileFor(c, op, value.getType());
  if (!made)
    return;
  Tile &tile = *made;
  tile.form = toVector ? Form::Whole : Form::Matrix;
  Extents2 boxes = tile.extents;
  boxes.rows = boxesOf(boxes.rows);
  ir::Place place = toVector ? ir::Place::Vec : ir::Place::Mat;
  llvm::StringRef layout = toVector ? "nd" : "nz";
  pto::TileBufType type = crossingType(c, place, layout, boxes, tile.element);
  // The whole slot is popped; its valid part is cut out below.
  auto full = type.withValid(type.getRows(), type.getCols());
  Value popped = c.b.create<pto::DeclareTileOp>(loc, full, Value(), Value());
  c.poppedInto[popped] = value;
  auto split = c.b.getI8IntegerAttr(c.cores.dealt.empty() ? 0 : 1);
  c.b.create<pto::TPopOp>(loc, popped, queue, split);
  auto narrow = crossingType(c, place, layout, tile.extents, tile.element),
       own = tileType(c, place, layout, tile.extents, tile.element);
  tile.buffer = firstOf(c, popped, narrow, tile.extents, loc);
  bool isColumn = toVector && formOf(tile) == Form::Column;
  // If queues are merged, the next tile that is popped may have another form.
  bool isCopied = toVector && (c.plan.merges || own.getCols() != narrow.getCols());
  if (isColumn) {
    tile = asColumn(c, tile, value.getType(), loc);
  } else if (isCopied) {
    Value apart = allocateLike(c, tile, loc);
    copyRows(c, tile, apart, loc);
    tile.buffer = apart;
  }
  setTile(c, value, tile);
  if (directQueues(c) && !isColumn &&
      !isCopied) // else it has been copied, here or from global memory
    c.popped.push_back({queue, split, value});
  else
    c.b.create<pto::TFreeOp>(loc, queue, split);
}

/// Whether anything behind `op` reads a value that lies in the buffer of `slot`.
static bool isRead(KernelContext &c, const Popped &slot, Operation *op) {
  Value root = pto::rootOf(tileOf(c, slot.value)->buffer);
  Value popped = slot.value;
  Block *home = popped.getParentBlock();
  for (Value value : c.sharing.valuesIn(root))
    for (Operation *user : value.getUsers()) {
      bool isOthers =
          c.core == CoreKind::Vector ? c.cores.cube.contains(user) : c.cores.vector.contains(user);
      // The other kind of core reads what it has or was sent.
      if (isOthers)
        continue;
      Operation *here = home->findAncestorOpInBlock(*user);
      if (!here || op->isBeforeInBlock(here))
        return true;
    }
  return false;
}

bool outlivesSlot(KernelContext &c, Value result, Value slot) {
  Value popped = c.poppedInto.lookup(slot);
  // What is not known to be in a slot is handled as if it were read for ever.
  if (!popped)
    return true;
  Block *home = popped.getParentBlock();
  Value queue = c.queues.lookup(popped);
  llvm::SmallVector<std::pair<Operation *, Operation *>> later; // where made, where popped
  for (const auto &[value, its] : c.queues) {
    Operation *maker = value.getDefiningOp(), *first = usesOf(value, c.core, c.cores).first;
    if (its == queue && value != popped && maker && first && maker->getBlock() == home &&
        (!popped.getDefiningOp() || popped.getDefiningOp()->isBeforeInBlock(maker)))
      later.push_back({maker, first});
  }
  auto global = queue.getDefiningOp<pto::InitializeL2G2LPipeOp>();
  size_t held = global ? static_cast<size_t>(global.getLocalSlotNum().value_or(1)) : 1;
  // So many values fit beside it, so its slot is not used again.
  if (later.size() < held)
    return false;
  llvm::sort(later, [](const auto &a, const auto &b) {
    return a.first == b.first ? a.second->isBeforeInBlock(b.second)
                              : a.first->isBeforeInBlock(b.first);
  });
  Operation *over = later[held - 1].second;
  for (const auto &each : llvm::drop_begin(later, held)) // popped before what was pushed after it
    over = each.second->isBeforeInBlock(over) ? each.second : over;
  Operation *last = usesOf(result, c.core, c.cores, home).second;
  return last && !last->isBeforeInBlock(over);
}

void freeSlots(KernelContext &c, Operation *after) {
  giveSlotsBack(c, after);
  llvm::SmallDenseSet<Value, 4> held;
  llvm::erase_if(c.popped, [&](const Popped &slot) {
    Value popped = slot.value;
    // Slots are given back in the order in which they were popped.
    if (popped.getParentBlock() != after->getBlock() || held.contains(slot.queue))
      return false;
    if (!after->hasTrait<OpTrait::IsTerminator>() && isRead(c, slot, after)) {
      held.insert(slot.queue);
      return false;
    }
    c.b.create<pto::TFreeOp>(named(c, slot.value), slot.queue, slot.split);
    return true;
  });
}

/// Through the consumer's own memory, not through global memory.
static bool directQueues(const KernelContext &c) { return c.machine.exchange.throughBuffer; }

Value dealt(KernelContext &c, Value length, const ir::Extent &extent, Value *present) {
  bool deals = c.core == CoreKind::Vector && c.cores.deals(extent.symbol);
  if (!length || (!deals && !c.cores.empties(extent.symbol)))
    return length;
  int64_t own = capacityOf(c, extent);
  IntegerAttr number;
  if (matchPattern(length, m_Constant(&number)))
    // Both cores then have all of their rows.
    if (deals ? number.getInt() == 2 * own : number.getInt() > 0)
      return deals ? constant(c, own) : length;
  // Extents of one length may have different capacities, and not all of them are dealt.
  DealtLength &dealt = c.dealtLengths[{length, deals ? own : -own - 1}];
  if (!dealt.part) {
    OpBuilder::InsertionGuard guard(c.b); // beside the length, so that every use comes after it
    c.b.setInsertionPointAfterValue(length);
    Value rest = length;
    if (deals)
      rest = c.b.createOrFold<arith::SubIOp>(
          c.loc, length, c.b.createOrFold<arith::MulIOp>(c.loc, c.subblock, constant(c, own)));
    // Instructions take no empty tile, so a core without rows computes one; `present` says that it must not be stored.
    dealt.part =
        c.b.createOrFold<arith::MaxSIOp>(c.loc, minimum(c, rest, constant(c, own)), constant(c, 1));
    dealt.present =
        c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sgt, rest, constant(c, 0));
  }
  if (present)
    *present = dealt.present;
  return dealt.part;
}

} // namespace ptl::block
