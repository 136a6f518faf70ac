// Values that cross between the cube and the vector cores: one queue per value, pushed where it is
// made and popped at the same place on the other side.
#include "passes/lower_block/queues.h"
#include "ir/dialect/cross_core.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_boxes.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

/// Tiles in flight per queue: what is direct takes the consumer's memory, so there are fewer.
static int64_t slotsOf(const Machine &machine) {
  const CoreExchange &exchange = machine.exchange;
  return exchange.throughBuffer ? exchange.slotsTwoWay : exchange.slotsOneWay;
}

/// What the pipe that a value goes through says of it (`ptl.slots`, `ptl.held`), else `usual`.
static int64_t saidOf(Value value, llvm::StringRef what, int64_t usual) {
  Operation *op = value.getDefiningOp();
  auto said = op ? op->getAttrOfType<IntegerAttr>(what) : nullptr;
  return said && said.getInt() > 0 ? said.getInt() : usual;
}

/// The slots of the queue that a value goes through: the numbers that a machine has are those of
/// its queues that go one way and of those that go both. What nothing holds is left as it is for
/// the prover.
static int64_t numSlotsOf(Value value, const Machine &machine, int64_t atLeast = 0) {
  int64_t wanted = std::max(saidOf(value, "ptl.slots", slotsOf(machine)), atLeast);
  const CoreExchange &exchange = machine.exchange;
  auto [few, many] = std::minmax(exchange.slotsOneWay, exchange.slotsTwoWay);
  return wanted <= few ? few : wanted <= many ? many : std::max(atLeast, many);
}

/// The whole tile that crosses, before it is dealt.
static std::optional<std::pair<int64_t, int64_t>>
capacities(Value value, const llvm::DenseMap<StringAttr, int64_t> &bounds) {
  llvm::SmallVector<int64_t> extents;
  for (const ir::Extent &extent : ir::extentsOf(value.getType())) {
    int64_t capacity = extent.capacity;
    if (capacity == ir::Extent::kUnknown)
      capacity = bounds.contains(extent.symbol) ? bounds.lookup(extent.symbol) : -1;
    if (capacity < 0)
      return std::nullopt;
    extents.push_back(capacity);
  }
  if (extents.size() != 2)
    return std::nullopt;
  return std::pair{extents[0], extents[1]};
}

/// The first and the last operation of `home` for which `core` reads a value, also under another
/// name.
static std::pair<Operation *, Operation *> usesOf(Value value, CoreKind core,
                                                  const CoreAssignment &cores, Block *home) {
  Operation *first = nullptr, *last = nullptr;
  llvm::SmallVector<Value> names{value};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<ir::DimOp>(user))
        continue;
      if (isViewOfOperand(user) || isa<ir::ReshapeOp, ir::SliceOp>(user))
        names.push_back(user->getResult(0));
      else if ((cores.coreOf(user) == CoreKind::Cube) != (core == CoreKind::Cube))
        continue;
      Operation *here = home->findAncestorOpInBlock(*user);
      if (!here)
        continue;
      first = first && first->isBeforeInBlock(here) ? first : here;
      last = last && here->isBeforeInBlock(last) ? last : here;
    }
  return {first, last};
}

static std::pair<Operation *, Operation *> usesOf(Value value, CoreKind core,
                                                  const CoreAssignment &cores) {
  return usesOf(value, core, cores, value.getParentBlock());
}

/// Whether nothing of `first` is read any more when `core` pops `second`, which comes after it.
static bool follows(Value second, Value first, CoreKind core, const CoreAssignment &cores) {
  Operation *done = usesOf(first, core, cores).second, *next = usesOf(second, core, cores).first;
  return !done || !next || done->getBlock() != next->getBlock() || done->isBeforeInBlock(next);
}

/// The most values of a queue that are read after another one has been popped, and that one.
static int64_t heldAtOnce(llvm::ArrayRef<Value> values, CoreKind consumer,
                          const CoreAssignment &cores) {
  int64_t most = 1;
  llvm::SmallVector<Operation *> lasts;
  for (Value value : values) {
    auto [first, last] = usesOf(value, consumer, cores);
    int64_t held = 1;
    for (Operation *earlier : lasts)
      held += earlier && first && earlier->getBlock() == first->getBlock() &&
              !earlier->isBeforeInBlock(first);
    most = std::max(most, held);
    lasts.push_back(last);
  }
  return most;
}

using Queues = std::vector<llvm::SmallVector<Value>>; ///< the values that go through each

/// The first flags of queues: pairs that nobody else uses.
static llvm::SmallVector<int64_t> firstFlags(const Machine &machine) {
  int64_t each = std::max<int64_t>(1, machine.exchange.flagsPerDirection);
  int64_t count = machine.crossCore.flags ? machine.crossCore.flags : 64;
  llvm::SmallVector<int64_t> firsts;
  for (int64_t first = 0; first + each <= count; first += each)
    if (llvm::none_of(machine.crossCore.reserved,
                      [&](int64_t flag) { return flag >= first && flag < first + each; }))
      firsts.push_back(first);
  return firsts;
}

/// One queue for each value, and one for all parts of a value; first those to the vector cores.
/// `share`: also one for values of a block that are alike, which are popped as they are pushed.
/// In the consumer's own memory one slot is given back before the next is popped: which slot
/// TFREE gives back, the library counts by what was popped last.
static Queues queuesOf(const CoreAssignment &cores, const Machine &machine, bool share) {
  Queues queues;
  auto isAlike = [&](Value a, Value b) {
    PartOf partA = partOf(a), partB = partOf(b);
    if (partA.isPart() || partB.isPart())
      return partA.group == partB.group && partA.isPart() == partB.isPart();
    return share && a.getParentBlock() == b.getParentBlock() && a.getType() == b.getType();
  };
  for (const llvm::SmallVector<Value> *list : {&cores.toVector, &cores.toCube}) {
    size_t first = queues.size();
    CoreKind consumer = list == &cores.toVector ? CoreKind::Vector : CoreKind::Cube;
    auto takes = [&](const llvm::SmallVector<Value> &values, Value value) {
      return isAlike(values.front(), value) &&
             (!machine.exchange.throughBuffer || follows(value, values.back(), consumer, cores));
    };
    for (Value value : *list) {
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

/// Of the pairs of flags, those that queues may have: meetings of the cores take one.
static size_t flagsForQueues(const CoreAssignment &cores, const Machine &machine) {
  size_t pairs = firstFlags(machine).size();
  return cores.meetings.empty() ? pairs : pairs - std::min<size_t>(pairs, 1);
}

/// One queue for all values to the vector cores, and one for each side of products: their operands
/// are handed over right before (`handBeforeUse`).
static Queues mergedQueues(const CoreAssignment &cores) {
  auto isLeft = [](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<ir::MatmulOp>(user) && user->getOperand(0) == value;
    });
  };
  Queues queues(1, cores.toVector);
  for (bool left : {true, false}) {
    llvm::SmallVector<Value> operands;
    llvm::copy_if(cores.toCube, std::back_inserter(operands),
                  [&](Value value) { return isLeft(value) == left; });
    queues.push_back(operands);
  }
  llvm::erase_if(queues, [](const auto &values) { return values.empty(); });
  return queues;
}

bool sharesQueues(const CoreAssignment &cores, const Machine &machine) {
  return queuesOf(cores, machine, false).size() > flagsForQueues(cores, machine);
}

static bool directQueues(const KernelContext &c);
static void push(KernelContext &c, mlir::Value value, mlir::Value queue);
static void pop(KernelContext &c, mlir::Value value, mlir::Value queue, bool toVector);

void meet(KernelContext &c, Location loc) {
  llvm::SmallVector<Value> arrays;
  for (Value array : c.cores.metOver)
    arrays.push_back(c.pointers.lookup(array));
  auto flag = [&](bool isSet, pto::PipeKind kind, int64_t id) {
    auto pipe = pto::PipeKindAttr::get(c.b.getContext(), kind);
    Value number = constant(c, id);
    Operation *op = isSet ? c.b.create<pto::SyncSetOp>(loc, pipe, number, arrays).getOperation()
                          : c.b.create<pto::SyncWaitOp>(loc, pipe, number, arrays).getOperation();
    op->setAttr("ptl.ids", c.b.getDenseI64ArrayAttr({id, 1}));
  };
  auto [toCube, fromCube] = std::pair(c.meetingEvents[0], c.meetingEvents[1]);
  if (c.core == CoreKind::Vector) {
    flag(/*isSet=*/true, pto::PipeKind::PIPE_MTE3, toCube);
    flag(/*isSet=*/false, pto::PipeKind::PIPE_MTE2, fromCube);
  } else {
    flag(/*isSet=*/false, pto::PipeKind::PIPE_FIX, toCube);
    flag(/*isSet=*/true, pto::PipeKind::PIPE_FIX, fromCube);
  }
}

bool mergesQueues(const CoreAssignment &cores, const Machine &machine) {
  return queuesOf(cores, machine, true).size() > flagsForQueues(cores, machine);
}

static Queues plannedQueues(const CoreAssignment &cores, const Machine &machine) {
  return mergesQueues(cores, machine) ? mergedQueues(cores)
                                      : queuesOf(cores, machine, sharesQueues(cores, machine));
}

/// The bytes of a slot: those of the largest value; nothing if one has no bound.
static std::optional<int64_t> slotBytesOf(llvm::ArrayRef<Value> values,
                                          const llvm::DenseMap<StringAttr, int64_t> &bounds) {
  int64_t most = 0;
  for (Value value : values) {
    auto extents = capacities(value, bounds);
    if (!extents)
      return std::nullopt;
    most = std::max(
        most, pto::slotBytes(extents->first, extents->second, ir::elementTypeOf(value.getType())));
  }
  return most;
}

void openQueues(KernelContext &c, ir::ParallelOp grid) {
  if (!c.cores.isMixed())
    return;
  bool direct = directQueues(c);
  int64_t offset = 0;
  llvm::SmallVector<int64_t> flags = firstFlags(c.machine);
  Queues queues = plannedQueues(c.cores, c.machine);
  c.mergesQueues = mergesQueues(c.cores, c.machine);
  size_t pairs = flagsForQueues(c.cores, c.machine);
  if (queues.size() > pairs)
    return fail(c, grid,
                std::to_string(queues.size()) + " pipes between cores, with flags for " +
                    std::to_string(pairs));
  if (!c.cores.meetings.empty()) {
    c.meetingEvents[0] = flags[queues.size()];
    c.meetingEvents[1] = flags[queues.size()] + 1;
  }
  MLIRContext *context = c.b.getContext();
  Value group = c.b.create<pto::GetBlockIdxOp>(c.loc, c.b.getI64Type());
  Value groupIndex = c.b.create<arith::IndexCastOp>(c.loc, c.b.getIndexType(), group);
  for (auto [number, values] : llvm::enumerate(queues)) {
    Value value = values.front();
    bool toVector = llvm::is_contained(c.cores.toVector, value);
    std::optional<int64_t> slot = slotBytesOf(values, c.capacities);
    Location loc = named(c, value);
    if (!slot) {
      fail(c, value.getDefiningOp() ? value.getDefiningOp() : grid.getOperation(),
           "a value without a static bound that crosses between cores");
      return;
    }
    int64_t bytes = *slot;
    int64_t read = c.mergesQueues && toVector // copied when it is popped
                       ? 1
                       : heldAtOnce(values, toVector ? CoreKind::Vector : CoreKind::Cube, c.cores);
    int64_t held = std::max(saidOf(value, "ptl.held", c.options.queueSlots), read);
    int64_t numSlots = numSlotsOf(value, c.machine, direct ? read + 1 : 0);
    bool consumer = toVector == (c.core == CoreKind::Vector);
    int64_t local = toVector && !c.cores.dealt.empty() ? bytes / 2 : bytes;
    Value address = c.b.create<arith::ConstantIntOp>(c.loc, 0, 32);
    std::string name = "queue" + std::to_string(number);
    auto word = [&](int64_t size) { return c.b.getI32IntegerAttr(static_cast<int32_t>(size)); };
    if (consumer)
      address = c.b.create<pto::ReserveBufferOp>(
          loc, c.b.getI32Type(), c.b.getStringAttr(name),
          word(direct ? numSlots * local : heldBytes(held, bytes, local)),
          c.b.getStringAttr(toVector ? "vec" : "mat"), c.b.getBoolAttr(true), IntegerAttr());
    auto mask = c.b.getI8IntegerAttr(toVector ? 1 : 2);
    BoolAttr nosplit = !c.cores.dealt.empty() ? BoolAttr() : c.b.getBoolAttr(true);
    Value queue;
    if (direct) {
      if (!consumer)
        address =
            c.b.create<pto::ImportReservedBufferOp>(loc, c.b.getI32Type(), c.b.getStringAttr(name),
                                                    FlatSymbolRefAttr::get(context, c.peer));
      queue = c.b.create<pto::InitializeL2LPipeOp>(loc, pto::PipeHandleType::get(context), mask,
                                                   word(bytes), word(numSlots), IntegerAttr(),
                                                   word(flags[number]), nosplit, address);
    } else {
      // Each core group has its own ring in the workspace.
      Value first =
          c.b.createOrFold<arith::MulIOp>(c.loc, groupIndex, constant(c, c.workspaceBytes / 4));
      first = c.b.createOrFold<arith::AddIOp>(c.loc, first, constant(c, offset / 4));
      Value ring = c.b.create<pto::AddPtrOp>(loc, c.workspace.getType(), c.workspace, first);
      queue = c.b.create<pto::InitializeL2G2LPipeOp>(loc, pto::PipeHandleType::get(context), mask,
                                                     word(bytes), word(numSlots), word(held),
                                                     word(flags[number]), nosplit, ring, address);
    }
    for (Value each : values)
      c.queues[each] = queue;
    offset += numSlots * bytes;
  }
}

int64_t workspaceOf(const CoreAssignment &cores, ir::ParallelOp grid, const Machine &machine) {
  llvm::DenseMap<StringAttr, int64_t> bounds = capacitiesOf(grid);
  int64_t total = 0;
  for (const llvm::SmallVector<Value> &values : plannedQueues(cores, machine))
    if (auto bytes = slotBytesOf(values, bounds))
      total += numSlotsOf(values.front(), machine) * *bytes;
  return (total + 511) / 512 * 512;
}

void cross(KernelContext &c, Value value) {
  Value queue = c.queues.lookup(value);
  if (!queue || c.failed)
    return;
  bool toVector = llvm::is_contained(c.cores.toVector, value);
  if (toVector == (c.core == CoreKind::Cube))
    return push(c, value, queue);
  if (c.mergesQueues) // at once, so that both sides go through a queue in the order of the program
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
    if (due.contains(each.queue) && i <= last(each.queue))
      pop(c, each.value, each.queue, llvm::is_contained(c.cores.toVector, each.value));
    else
      c.waiting.push_back(each);
}

/// Rows of the boxes that the cube core keeps matrices in.
static constexpr int64_t kBoxRows = 16;
static int64_t boxesOf(int64_t rows) { return (rows + kBoxRows - 1) / kBoxRows * kBoxRows; }

/// The first rows of a buffer as a tile of `type`.
static Value rowsOf(KernelContext &c, Value buffer, pto::TileBufType type, const Extents2 &extents,
                    Location loc) {
  return c.b.create<pto::SubsetOp>(
      loc, type, buffer, constant(c, 0), constant(c, 0),
      type.getValidRows() == pto::kDynamic ? extents.validRows : Value(),
      type.getValidCols() == pto::kDynamic ? extents.validCols : Value());
}

static void push(KernelContext &c, Value value, Value queue) {
  Location loc = named(c, value);
  const Tile *found = tileOf(c, value);
  if (!found) {
    fail(c, value.getDefiningOp(), "this value crossing between cores");
    return;
  }
  Tile tile = found->form == Form::Acc ? *found : materialise(c, *found, loc);
  if (tile.form == Form::Column) { // as the first column of a matrix
    c.loc = loc;
    tile.buffer = apart(c, tile.buffer, tile.extents.rows, tile.extents.validRows, tile.element);
  }
  // Slots have the whole capacity, so that both sides agree on where rows lie. The cube core has
  // boxes of rows: a tile of fewer goes in a buffer of as many.
  auto type = cast<pto::TileBufType>(tile.buffer.getType());
  if (c.core == CoreKind::Vector && type.getRows() % kBoxRows) {
    Extents2 boxes = tile.extents;
    boxes.rows = boxesOf(boxes.rows);
    Tile padded = tile;
    Value wide = allocate(c, ir::Place::Vec, "nd", boxes, tile.element, loc);
    padded.buffer = rowsOf(c, wide, type, tile.extents, loc);
    copy(c, tile, padded, loc);
    tile.buffer = wide;
  }
  c.b.create<pto::TPushOp>(loc, fullView(c, tile.buffer), queue,
                           c.b.getI8IntegerAttr(c.cores.dealt.empty() ? 0 : 1));
}

/// A matrix of one column, as products leave it, the way in which columns are kept.
static Tile asColumn(KernelContext &c, const Tile &matrix, Type type, Location loc) {
  Tile column = matrix;
  column.form = Form::Column;
  column.buffer = allocateLike(c, column, loc);
  if (takes(c, InstructionId::TRowSum, {matrix.element})) { // each sum has one element
    emit(c, loc, InstructionId::TRowSum, {matrix.buffer, allocateLike(c, matrix, loc)},
         {columnView(c, column)});
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
  Location loc = named(c, value);
  Operation *op =
      value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
  std::optional<Extents2> extents = extentsOf(c, op, value.getType());
  if (!extents)
    return;
  Tile tile;
  tile.extents = *extents;
  tile.element = ir::elementTypeOf(value.getType());
  tile.form = toVector ? Form::Whole : Form::Matrix;
  Extents2 boxes = tile.extents;
  boxes.rows = boxesOf(boxes.rows);
  pto::TileBufType type = tileType(c, toVector ? ir::Place::Vec : ir::Place::Mat,
                                   toVector ? "nd" : "nz", boxes, tile.element);
  auto full = type.withValid(type.getRows(), type.getCols());
  Value popped = c.b.create<pto::DeclareTileOp>(loc, full, Value(), Value());
  auto split = c.b.getI8IntegerAttr(c.cores.dealt.empty() ? 0 : 1);
  c.b.create<pto::TPopOp>(loc, popped, queue, split);
  auto own = tileType(c, type.getPlace(), toVector ? "nd" : "nz", tile.extents, tile.element);
  tile.buffer = own.getRows() == type.getRows()
                    ? reshape(c, popped, own, tile.extents.validRows, tile.extents.validCols)
                    : rowsOf(c, popped, own, tile.extents, loc);
  bool isColumn = toVector && formOf(tile) == Form::Column;
  if (isColumn)
    tile = asColumn(c, tile, value.getType(), loc);
  if (c.mergesQueues && toVector) { // what is popped next may have another form
    if (!isColumn) {
      Tile own = tile;
      own.buffer = allocateLike(c, own, loc);
      copy(c, tile, own, loc);
      tile = own;
    }
    setTile(c, value, tile);
    c.b.create<pto::TFreeOp>(loc, queue, split);
    return;
  }
  setTile(c, value, tile);
  if (directQueues(c))
    c.popped.push_back({queue, split, value});
  else
    c.b.create<pto::TFreeOp>(loc, queue, split); // it has been copied from global memory
}

/// Whether anything behind `op` reads a value that lies in the buffer of `slot`.
static bool isRead(KernelContext &c, const Popped &slot, Operation *op) {
  Value root = pto::rootOf(tileOf(c, slot.value)->buffer);
  Value popped = slot.value;
  Block *home = popped.getParentBlock();
  for (Value value : c.sharing.valuesIn(root))
    for (Operation *user : value.getUsers()) {
      if (c.core == CoreKind::Vector && c.cores.coreOf(user) == CoreKind::Cube)
        continue; // it reads what it was sent
      Operation *here = home->findAncestorOpInBlock(*user);
      if (!here || op->isBeforeInBlock(here))
        return true;
    }
  return false;
}

bool outlivesSlot(KernelContext &c, Value result, Value slot) {
  Value popped;
  for (const auto &[value, queue] : c.queues)
    if (const Tile *tile = tileOf(c, value);
        tile && tile->buffer && pto::rootOf(tile->buffer) == slot)
      popped = value;
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
  if (later.size() < held)
    return false;
  llvm::sort(later, [](const auto &a, const auto &b) { return a.first->isBeforeInBlock(b.first); });
  Operation *over = later[held - 1].second;
  for (const auto &each : llvm::drop_begin(later, held)) // popped before what was pushed after it
    over = each.second->isBeforeInBlock(over) ? each.second : over;
  Operation *last = usesOf(result, c.core, c.cores, home).second;
  return last && !last->isBeforeInBlock(over);
}

void freeSlots(KernelContext &c, Operation *after) {
  llvm::SmallDenseSet<Value, 4> held;
  llvm::erase_if(c.popped, [&](const Popped &slot) {
    Value popped = slot.value;
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

/// So far may one stage of a loop be ahead of the other. What is ahead is handed on before any of
/// it is taken: with as many turns as both ways of a value have slots each core still gets on.
int64_t turnsAhead(const KernelContext &c) {
  int64_t slots = std::numeric_limits<int64_t>::max() / 2;
  for (const llvm::SmallVector<Value> *values : {&c.cores.toVector, &c.cores.toCube})
    for (Value value : *values)
      slots = std::min(slots, numSlotsOf(value, c.machine));
  return std::min(c.options.ahead, 2 * slots / std::max<int64_t>(1, c.options.parts) - 1);
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
    if (deals ? number.getInt() == 2 * own : number.getInt() > 0)
      return deals ? constant(c, own) : length;
  Value &part = c.dealtLengths[length];
  if (!part) {
    OpBuilder::InsertionGuard guard(c.b); // beside the length, so that every use comes after it
    c.b.setInsertionPointAfterValue(length);
    Value rest = length;
    if (deals)
      rest = c.b.createOrFold<arith::SubIOp>(
          c.loc, length, c.b.createOrFold<arith::MulIOp>(c.loc, c.subblock, constant(c, own)));
    part =
        c.b.createOrFold<arith::MaxSIOp>(c.loc, minimum(c, rest, constant(c, own)), constant(c, 1));
    c.dealtPresent[length] =
        c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sgt, rest, constant(c, 0));
  }
  if (present)
    *present = c.dealtPresent[length];
  return part;
}

} // namespace ptl::block
