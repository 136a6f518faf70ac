// The tree of a block-level function, and which bytes each instruction touches.
#include "passes/analysis/block_dependence.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"
#include "ir/ops/pipe_names.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::pto {

// ---- expressions --------------------------------------------------------------------------------

// These operations give equal results for equal operands, so their form identifies the value.
static bool isPureForm(Operation *op) {
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         (isa<arith::ArithDialect>(op->getDialect()) || isa<MakeTensorViewOp, AddPtrOp>(op));
}

unsigned ExpressionTable::idOf(Value value) {
  if (auto found = known_.find(value); found != known_.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  unsigned id;
  // This is value numbering: the key is the operation with the numbers of its operands.
  if (isPureForm(op)) {
    Key key{op->getName().getAsOpaquePointer(), op->getAttrDictionary().getAsOpaquePointer(), {}};
    for (Value operand : op->getOperands())
      key.operands.push_back(idOf(operand));
    auto [at, isNew] = byForm_.try_emplace(std::move(key), next_);
    next_ += isNew;
    id = at->second;
  } else {
    id = next_++;
  }
  known_[value] = id;
  return id;
}

Value BlockProgram::stripModulo(Value slot, int64_t count) const {
  while (Operation *op = slot.getDefiningOp()) {
    if (!isa<arith::RemUIOp, arith::RemSIOp>(op))
      break;
    // x mod (k * count) and x have the same remainder modulo `count`.
    std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
    if (!divisor || *divisor <= 0 || *divisor % count)
      break;
    slot = op->getOperand(0);
  }
  return slot;
}

// ---- bytes --------------------------------------------------------------------------------------

int BlockProgram::rotationIndex(const Rotation &rotation) {
  auto found = llvm::find(rotations_, rotation);
  if (found == rotations_.end()) {
    rotations_.push_back(rotation);
    return static_cast<int>(rotations_.size()) - 1;
  }
  return static_cast<int>(found - rotations_.begin());
}

unsigned BlockProgram::globalSpace(Value pointer) {
  auto [at, isNew] = spaceByPointer_.try_emplace(pointer, nextSpace_);
  if (!isNew)
    return at->second;
  // Two arguments of one name are one array: an `inout`.
  if (auto argument = dyn_cast<BlockArgument>(pointer);
      argument && argument.getOwner() == &function_.front())
    // The new name may belong to an array whose number was given before.
    if (auto name = attrs::name.of(function_, argument.getArgNumber()))
      at->second = spaceByName_.try_emplace(name.str(), nextSpace_).first->second;
  if (at->second == nextSpace_)
    ++nextSpace_;
  return at->second;
}

// A quarter of the largest number leaves room for sums that stay below the limit.
static constexpr int64_t kEverything = std::numeric_limits<int64_t>::max() / 4;

void BlockProgram::resolveSlot(MultiTileGetOp get, Touch &touch) {
  auto alloc = get.getSource().getDefiningOp<AllocMultiTileOp>();
  std::optional<int64_t> base = alloc ? getConstantIntValue(alloc.getAddr()) : std::nullopt;
  if (!base)
    return;
  MultiTileBufType type = get.getSource().getType();
  int64_t count = type.getCount(), bytes = type.getSlot().getBytes(),
          stride = static_cast<int64_t>(llvm::alignTo(
              static_cast<uint64_t>(bytes),
              static_cast<uint64_t>(
                  machine_.alignment[static_cast<size_t>(type.getSlot().getPlace())])));
  touch.ring = {*base, *base + (count - 1) * stride + bytes, count};
  if (std::optional<int64_t> slot = getConstantIntValue(get.getSlot())) {
    // The remainder of a negative constant would be negative.
    touch.slot = (*slot % count + count) % count;
    touch.begin = *base + touch.slot * stride;
    touch.end = touch.begin + bytes;
    return;
  }
  // The slot is only known at run time, so the touch covers the whole ring.
  touch.begin = touch.ring.begin;
  touch.end = touch.ring.end;
  // A ring of one slot does not rotate.
  if (count > 1) {
    Value slot = stripModulo(get.getSlot(), count);
    touch.rotation = rotationIndex(
        {touch.begin, touch.end, count, expressions_.idOf(slot), get.getSlot(), Value()});
  }
}

void BlockProgram::resolvePopped(DeclareTileOp tile, Touch &touch) {
  Value queue = poppedFrom_.lookup(tile.getTile());
  Operation *pipe = queue ? queue.getDefiningOp() : nullptr;
  // Without its pop the tile's queue is unknown, so it may be of any byte.
  if (!pipe)
    return;
  touch.popped = tile;
  Value address = pipe->getOperands().back();
  auto reserved = address.getDefiningOp<ReserveBufferOp>();
  if (reserved && reserved.getBase()) {
    touch.begin = *reserved.getBase();
    touch.end = touch.begin + reserved.getSize();
  } else if (std::optional<int64_t> base = getConstantIntValue(address)) {
    touch.begin = *base;
    touch.end = kEverything;
  }
  // Through global memory a pop loads into the consumer's local slots, one after the other.
  if (auto global = dyn_cast<InitializeL2G2LPipeOp>(pipe)) {
    int64_t count = global.getLocalSlotNum() ? *global.getLocalSlotNum() : global.getSlotNum();
    if (count > 1) {
      touch.ring = {touch.begin, touch.end, count};
      touch.rotation =
          rotationIndex({touch.begin, touch.end, count, expressions_.idOf(queue), Value(), queue});
    }
  }
}

// A window with constant corners is the bytes between them: positions grow with rows and with
// columns in every layout.
static void narrow(SubsetOp window, Touch &touch) {
  std::optional<int64_t> row = getConstantIntValue(window.getRow()),
                         col = getConstantIntValue(window.getCol());
  TileBufType whole = window.getSource().getType(), part = window.getType();
  // The place of a rotating tile is not constant, so its window cannot be narrowed.
  if (!row || !col || touch.rotation >= 0)
    return;
  int64_t begin = elementOffset(whole, *row, *col);
  int64_t last = elementOffset(whole, *row + part.getRows() - 1, *col + part.getCols() - 1);
  int64_t bytes = elementBytes(whole.getElementType());
  // A window that reaches beyond its buffer is left as large as the buffer.
  if (begin < 0 || last < begin || touch.begin + last + bytes > touch.end)
    return;
  touch.end = touch.begin + last + bytes;
  touch.begin += begin;
}

void BlockProgram::resolveTile(Value value, Touch &touch) {
  Operation *op = value.getDefiningOp();
  // Until the definition is found, the touch may be of any byte.
  touch.begin = 0;
  touch.end = kEverything;
  if (!op)
    return;
  if (isa<SubsetOp, TReshapeOp, BitcastOp>(op)) {
    resolveTile(op->getOperand(0), touch);
    if (auto window = dyn_cast<SubsetOp>(op))
      narrow(window, touch);
  } else if (auto alloc = dyn_cast<AllocTileOp>(op)) {
    if (std::optional<int64_t> base = getConstantIntValue(alloc.getAddr())) {
      touch.begin = *base;
      touch.end = *base + alloc.getType().getBytes();
    }
  } else if (auto get = dyn_cast<MultiTileGetOp>(op)) {
    resolveSlot(get, touch);
  } else if (auto tile = dyn_cast<DeclareTileOp>(op)) {
    resolvePopped(tile, touch);
  }
}

void BlockProgram::resolve(Value value, Touch &touch) {
  touch.value = value;
  if (auto tile = dyn_cast<TileBufType>(value.getType())) {
    touch.space = static_cast<unsigned>(tile.getPlace());
    resolveTile(value, touch);
    return;
  }
  touch.space = globalSpace(rootOf(value));
  touch.begin = 0;
  // Bytes of global memory are not numbered; the boxes are compared instead (`disjoint`).
  touch.end = 1;
  touch.box = value.getDefiningOp<PartitionViewOp>();
}

// ---- the tree -----------------------------------------------------------------------------------

BlockMachine::BlockMachine(const Machine &machine) : vectorBarrier(machine.vectorBarrier) {
  eventIds = std::max<int64_t>(1, machine.events);
  isaMacro = machine.tools.isaMacro;
  for (size_t place = 0; place < alignment.size(); ++place)
    if (const MemorySpace *space =
            machine.space(std::string(ir::placeName(static_cast<ir::Place>(place)))))
      alignment[place] = std::max<int64_t>(1, space->alignment);
}

BlockProgram::BlockProgram(func::FuncOp function, const BlockMachine &machine)
    : function_(function), machine_(machine) {
  // Touches of popped tiles need to know the queue, so pops are collected before the tree is built.
  function.walk([&](TPopOp pop) { poppedFrom_[rootOf(pop.getTile())] = pop.getPipe(); });
  root_ = build(function.front(), function);
}

// A queue in the consumer's memory: giving a slot back must follow its readers, on the pipe that
// signals.
static std::optional<Pipe> pipeOfFree(TFreeOp free) {
  if (!free.getPipe().getDefiningOp<InitializeL2LPipeOp>())
    return std::nullopt;
  return isCube(free->getParentOfType<func::FuncOp>()) ? Pipe::MTE1 : Pipe::V;
}

// An event inside may be set again once it has been waited for. The scalar unit issues nothing
// meanwhile, so what it waits for is over anyway.
void BlockProgram::addInside(const InsideInstruction &inside, Item &item) {
  inside_.insert(&inside);
  for (size_t i = 0; i < inside.events.size(); ++i) {
    Pipe from = pipeNamed(inside.events[i].from), to = pipeNamed(inside.events[i].to);
    if (inside.events[i].from.empty() || to == Pipe::S)
      continue;
    for (Pipe pipe : {from, to}) {
      // The setter of a guarded event has waited inside; only later setters still have to wait.
      if (pipe == from && inside.isGuarded(i))
        continue;
      Touch &touch = item.touches.emplace_back();
      touch.first = touch.last = item.op;
      touch.value = item.op->getOperands().back();
      touch.pipe = pipe;
      touch.reads = pipe == to;
      touch.writes = touch.aside = pipe == from;
      touch.space = kEventSpace;
      // The number is that of a flag: (source * 8 + destination) * 64 + id.
      touch.begin = (static_cast<int64_t>(from) * 8 + static_cast<int64_t>(to)) * 64 + inside.id;
      touch.end = touch.begin + 1;
    }
  }
}

void BlockProgram::addInstruction(Item &item) {
  Operation *op = item.op;
  ++item.instructions[static_cast<size_t>(*item.pipe)];
  auto add = [&](Value value) -> Touch & {
    Touch &touch = item.touches.emplace_back();
    touch.first = touch.last = op;
    touch.pipe = *item.pipe;
    resolve(value, touch);
    return touch;
  };
  const InsideInstruction *inside =
      // An instruction may use scratch and events of its own that other instructions must not
      // disturb.
      insideOf(machine_.isaMacro, std::string_view(op->getName().stripDialect()),
               pipeName(*item.pipe));
  if (inside)
    addInside(*inside, item);
  for (const Access &access : accessesOf(op)) {
    if (access.scratch && inside && !inside->scratchPipe.empty()) {
      Touch &touch = add(access.value);
      touch.pipe = pipeNamed(inside->scratchPipe);
      touch.writes = touch.aside = true;
    }
    Touch &touch = add(access.value);
    touch.reads = access.reads || access.scratch;
    touch.writes = access.writes || access.scratch;
    auto pop = dyn_cast<TPopOp>(op);
    touch.receives = pop && pop.getPipe().getDefiningOp<InitializeL2LPipeOp>();
  }
  if (isa<SyncSetOp, SyncWaitOp>(op)) // the other cores reach these arrays before or behind it
    for (Value array : op->getOperands().drop_front()) {
      Touch &touch = add(array);
      touch.reads = touch.writes = true;
    }
  if (auto free = dyn_cast<TFreeOp>(op))
    // Any tile of the queue stands for its slots, since all of them lie in the same bytes.
    for (auto [tile, queue] : poppedFrom_)
      if (queue == free.getPipe()) {
        Touch &touch = add(tile);
        touch.writes = touch.releases = true;
        break;
      }
}

void BlockProgram::addComposite(Item &item) {
  using Key = std::tuple<Pipe, unsigned, int64_t, int64_t, int, int, void *, void *>;
  // Equal touches of the instructions inside become one, from the first to the last of them.
  std::map<Key, size_t> known;
  for (auto &body : item.bodies)
    for (Item &inner : body->items) {
      for (size_t i = 0; i < kNumPipes; ++i)
        item.instructions[i] += inner.instructions[i];
      for (const Touch &touch : inner.touches) {
        int how = touch.reads | touch.writes << 1 | touch.receives << 2 | touch.releases << 3 |
                  touch.aside << 4;
        Key key{touch.pipe,
                touch.space,
                touch.begin,
                touch.end,
                touch.rotation,
                how,
                touch.box ? PartitionViewOp(touch.box).getOperation() : nullptr,
                touch.popped};
        auto [at, isNew] = known.try_emplace(key, item.touches.size());
        if (isNew)
          item.touches.push_back(touch);
        else
          item.touches[at->second].last = touch.last;
      }
    }
}

std::unique_ptr<Body> BlockProgram::build(Block &block, Operation *owner) {
  auto body = std::make_unique<Body>();
  body->block = &block;
  body->owner = owner;
  body->loop = isa<scf::ForOp>(owner);
  for (Operation &op : block) {
    Item item{&op, pipeOf(&op), {}, {}, {}};
    if (auto free = dyn_cast<TFreeOp>(op))
      item.pipe = pipeOfFree(free);
    else if (auto set = dyn_cast<SyncSetOp>(op))
      item.pipe = pipeOf(set.getPipe());
    else if (auto wait = dyn_cast<SyncWaitOp>(op))
      item.pipe = pipeOf(wait.getPipe());
    if (item.pipe) {
      addInstruction(item);
    } else {
      for (Region &region : op.getRegions())
        if (!region.empty())
          item.bodies.push_back(build(region.front(), &op));
      addComposite(item);
      // What issues nothing has no place in the order.
      if (llvm::all_of(item.instructions, [](unsigned n) { return n == 0; }))
        continue;
    }
    body->items.push_back(std::move(item));
  }
  // The items do not move any more, so pointers to them stay valid.
  for (Item &item : body->items)
    for (auto &inner : item.bodies)
      inner->parent = &item;
  if (body->loop)
    findFrames(*body);
  return body;
}

// ---- slots in turn ------------------------------------------------------------------------------

// Whether a value follows from the numbers of this iteration alone; `varies` when it does from any
// of them.
static bool followsFrom(Value value, Block *block, bool &varies) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // The value has to come from the loop's own arguments or from outside of it.
    varies |= argument.getOwner() == block;
    return argument.getOwner() == block ||
           !block->getParentOp()->isAncestor(argument.getOwner()->getParentOp());
  }
  Operation *op = value.getDefiningOp();
  if (!block->getParentOp()->isProperAncestor(op))
    return true;
  return isPureForm(op) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return followsFrom(v, block, varies); });
}

bool BlockProgram::popsOncePerIteration(const Rotation &rotation, Body &body) {
  // With several pops in one iteration, the slot does not follow from the iteration's number.
  unsigned pops = 0;
  body.owner->walk([&](TPopOp pop) { pops += pop.getPipe() == rotation.queue; });
  for (Item &item : body.items)
    for (const Touch &touch : item.touches)
      if (!touch.isGlobal() && touch.begin < rotation.end && rotation.begin < touch.end)
        if (touch.rotation >= 0 && rotations_[static_cast<size_t>(touch.rotation)] == rotation) {
          auto pop = dyn_cast<TPopOp>(item.op); // the first toucher must be the pop itself
          return pops == 1 && pop && pop.getPipe() == rotation.queue;
        }
  return false;
}

bool BlockProgram::isSlotOf(const Rotation &rotation, Body &body) {
  bool varies = false;
  if (rotation.queue
          ? !popsOncePerIteration(rotation, body)
          : !followsFrom(stripModulo(rotation.slot, rotation.count), body.block, varies) || !varies)
    return false;
  return true;
}

void BlockProgram::findFrames(Body &body) {
  body.frameOf.assign(rotations_.size(), -1);
  std::map<int, unsigned> used; // rotation and its memory
  for (Item &item : body.items)
    for (const Touch &touch : item.touches)
      if (touch.rotation >= 0)
        used[touch.rotation] = touch.space;
  for (auto [index, space] : used) {
    const Rotation &rotation = rotations_[static_cast<size_t>(index)];
    // Frames only help where nothing else touches the bytes of the ring.
    auto apart = [&, index = index, space = space](const Touch &touch) {
      return touch.space != space || touch.rotation == index || touch.end <= rotation.begin ||
             rotation.end <= touch.begin;
    };
    bool alone =
        llvm::all_of(body.items, [&](Item &item) { return llvm::all_of(item.touches, apart); });
    if (!alone || !isSlotOf(rotation, body))
      continue;
    // Rings with the same number and count share a frame, since they turn together.
    auto frame = llvm::find_if(body.frames, [&](const Frame &f) {
      return f.slotKey == rotation.slotKey && f.count == rotation.count;
    });
    body.frameOf[static_cast<size_t>(index)] = static_cast<int>(frame - body.frames.begin());
    if (frame == body.frames.end())
      body.frames.push_back({rotation.slotKey, rotation.count, rotation.slot});
    body.popsRotate |= static_cast<bool>(rotation.queue);
  }
}

} // namespace ptl::pto
