#include "passes/analysis/buffer_liveness.h"

#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace ptl::pto;

namespace ptl::block {
namespace {

/// A buffer that a value may stand for. `through`: the value is handed on by this loop, so the
/// buffer is live through all of it.
struct Behind {
  uint32_t buffer = 0;
  Operation *through = nullptr;
};

class Analysis {
public:
  explicit Analysis(func::FuncOp function) : function_(function) {}
  BufferLiveness run();

private:
  void number(Block &block, uint32_t depth);
  void numberNested(Operation *op, uint32_t depth);
  void addBuffer(Operation *op);
  void bindQueues();
  void use(Operation *op);
  void extend(uint32_t buffer, LiveRange range);
  LiveRange rangeOfUse(Operation *op, Value value, const Behind &behind);
  void findBehind(Value value, Operation *through, llvm::SmallVectorImpl<Behind> &found,
                  llvm::SmallPtrSetImpl<void *> &seen);
  void findInPlace(Operation *op);
  bool turnsIn(Operation *loop, Value value);
  const llvm::SmallPtrSet<Operation *, 4> &loopsOfSlot(MultiTileGetOp get);
  uint32_t nextPosition() const { return static_cast<uint32_t>(result_.positions.size()); }

  func::FuncOp function_;
  BufferLiveness result_;
  std::vector<bool> used_;
  llvm::DenseMap<Operation *, uint32_t> bufferOf_; ///< also `declare_tile` of a queue
  llvm::DenseMap<Operation *, LiveRange> ranges_;  ///< of instructions, loops and branches
  llvm::DenseMap<Operation *, llvm::SmallPtrSet<Operation *, 4>> slotLoops_;
};

} // namespace

static std::optional<ir::Place> placeByName(llvm::StringRef name) {
  for (auto place :
       {ir::Place::Vec, ir::Place::Mat, ir::Place::Left, ir::Place::Right, ir::Place::Acc,
        ir::Place::Bias, ir::Place::Scale, ir::Place::ScaleLeft, ir::Place::ScaleRight})
    if (ir::placeName(place) == name)
      return place;
  return name == "scaling" ? std::optional(ir::Place::Scale) : std::nullopt;
}

/// The number of slots of a queue in the memory of its consumer.
static int64_t slotsOf(ReserveBufferOp reserve) {
  for (Operation *user : reserve.getAddr().getUsers()) {
    if (auto pipe = dyn_cast<InitializeL2LPipeOp>(user))
      return pipe.getSlotNum();
    if (auto pipe = dyn_cast<InitializeL2G2LPipeOp>(user))
      return pipe.getLocalSlotNum().value_or(pipe.getSlotNum());
  }
  return 1;
}

void Analysis::addBuffer(Operation *op) {
  LiveBuffer buffer;
  buffer.op = op;
  buffer.live = {nextPosition(), nextPosition()};
  Value address;
  bool isLiveThroughout = false;
  if (auto tile = dyn_cast<AllocTileOp>(op)) {
    buffer.place = tile.getType().getPlace();
    buffer.bytes = tile.getType().getBytes();
    address = tile.getAddr();
  } else if (auto slots = dyn_cast<AllocMultiTileOp>(op)) {
    buffer.place = slots.getType().getSlot().getPlace();
    buffer.bytes = slots.getType().getSlot().getBytes();
    buffer.count = slots.getType().getCount();
    address = slots.getAddr();
  } else {
    auto reserve = cast<ReserveBufferOp>(op);
    std::optional<ir::Place> place = placeByName(reserve.getLocation());
    if (!place)
      return;
    buffer.place = *place;
    buffer.count = std::max<int64_t>(1, slotsOf(reserve));
    // If the bytes cannot be divided into slots, the buffer counts as one.
    if (reserve.getSize() % buffer.count)
      buffer.count = 1;
    buffer.bytes = reserve.getSize() / buffer.count;
    if (!reserve.getAutoAlloc() && reserve.getBase())
      buffer.fixed = *reserve.getBase();
    isLiveThroughout = true;
  }
  if (address) {
    buffer.fixed = getConstantIntValue(address);
    if (!buffer.fixed) // computed: its author places it
      return;
  }
  bufferOf_[op] = static_cast<uint32_t>(result_.buffers.size());
  result_.buffers.push_back(buffer);
  used_.push_back(isLiveThroughout);
}

void Analysis::numberNested(Operation *op, uint32_t depth) {
  // A loop has a position at its begin and one at its end, since buffers may be live at either.
  uint32_t begin = nextPosition();
  result_.positions.push_back(op);
  bool isLoop = isa<LoopLikeOpInterface>(op);
  size_t loop = result_.loops.size();
  if (isLoop)
    result_.loops.push_back({{begin, begin}, depth, op});
  for (Region &region : op->getRegions())
    for (Block &block : region)
      // Branches do not count as depth.
      number(block, depth + isLoop);
  ranges_[op] = {begin, nextPosition()};
  if (isLoop)
    result_.loops[loop].range.end = nextPosition();
  result_.positions.push_back(op);
}

void Analysis::number(Block &block, uint32_t depth) {
  for (Operation &op : block) {
    if (op.getNumRegions()) {
      numberNested(&op, depth);
    } else if (isa<AllocTileOp, AllocMultiTileOp, ReserveBufferOp>(op)) {
      addBuffer(&op);
    } else if (isa<PtoDialect>(op.getDialect()) && !accessesOf(&op).empty()) {
      // Only instructions that touch tiles need a position.
      ranges_[&op] = {nextPosition(), nextPosition()};
      result_.positions.push_back(&op);
    }
  }
}

/// A tile that a queue binds stands in the bytes that the queue reserved.
void Analysis::bindQueues() {
  function_.walk([&](TPopOp pop) {
    Operation *pipe = pop.getPipe().getDefiningOp();
    Operation *declared = rootOf(pop.getTile()).getDefiningOp();
    // The queue's slots lie in the buffer that its consumer reserved.
    Value address;
    if (auto local = dyn_cast_or_null<InitializeL2LPipeOp>(pipe))
      address = local.getLocalAddr();
    else if (auto global = dyn_cast_or_null<InitializeL2G2LPipeOp>(pipe))
      address = global.getLocalAddr();
    Operation *reserve = address ? address.getDefiningOp() : nullptr;
    auto known = bufferOf_.find(reserve);
    if (declared && known != bufferOf_.end())
      bufferOf_[declared] = known->second;
  });
}

void Analysis::extend(uint32_t buffer, LiveRange range) {
  LiveBuffer &own = result_.buffers[buffer];
  // The first use begins the live range; the place of the allocation does not.
  if (!used_[buffer])
    own.live = range;
  used_[buffer] = true;
  // A queue's slots may be filled by the other core at any time.
  if (isa<ReserveBufferOp>(own.op))
    return;
  own.live.begin = std::min(own.live.begin, range.begin);
  own.live.end = std::max(own.live.end, range.end);
}

/// The loops whose iterations decide about the slot.
const llvm::SmallPtrSet<Operation *, 4> &Analysis::loopsOfSlot(MultiTileGetOp get) {
  auto [known, isNew] = slotLoops_.try_emplace(get);
  if (!isNew)
    return known->second;
  // This follows the computation of the slot back to the loop variables in it.
  llvm::SmallVector<Value> pending = {get.getSlot()};
  llvm::SmallPtrSet<void *, 16> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value.getAsOpaquePointer()).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value))
      known->second.insert(argument.getOwner()->getParentOp());
    else
      llvm::append_range(pending, value.getDefiningOp()->getOperands());
  }
  return known->second;
}

bool Analysis::turnsIn(Operation *loop, Value value) {
  auto get = rootOf(value).getDefiningOp<MultiTileGetOp>();
  return get && loopsOfSlot(get).contains(loop);
}

LiveRange Analysis::rangeOfUse(Operation *op, Value value, const Behind &behind) {
  LiveRange range = ranges_[op];
  Operation *made = result_.buffers[behind.buffer].op;
  // A buffer from outside of a loop may carry a value to the next turn, so it is live in all of the
  // loop.
  for (Operation *parent = op->getParentOp(); parent != function_; parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      if (!parent->isProperAncestor(made) || turnsIn(parent, value))
        range = ranges_[parent];
  if (behind.through && !ranges_[behind.through].contains(range)) {
    LiveRange loop = ranges_[behind.through];
    range = {std::min(range.begin, loop.begin), std::max(range.end, loop.end)};
  } else if (behind.through) {
    range = ranges_[behind.through];
  }
  return range;
}

void Analysis::findBehind(Value value, Operation *through, llvm::SmallVectorImpl<Behind> &found,
                          llvm::SmallPtrSetImpl<void *> &seen) {
  // Views and slots stand for the buffer that they are part of.
  value = rootOf(value);
  if (auto get = value.getDefiningOp<MultiTileGetOp>())
    value = get.getSource();
  // Loops hand values on in cycles, which end here.
  if (!seen.insert(value.getAsOpaquePointer()).second)
    return;
  Operation *op = value.getDefiningOp();
  if (auto known = bufferOf_.find(op); op && known != bufferOf_.end()) {
    found.push_back({known->second, through});
    return;
  }
  auto follow = [&](ValueRange values, Operation *by) {
    for (Value next : values)
      findBehind(next, by ? by : through, found, seen);
  };
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    follow({select.getTrueValue(), select.getFalseValue()}, nullptr);
  // Tiles that control flow hands on: whatever it may hand on there.
  Operation *parent = op;
  if (auto argument = dyn_cast<BlockArgument>(value))
    parent = argument.getOwner()->getParentOp();
  if (!parent || parent == function_ || !parent->getNumRegions())
    return;
  auto isTile = [](Value operand) { return isa<TileBufType>(operand.getType()); };
  // A value that a loop carries lives through all of its turns.
  bool isLoop = isa<LoopLikeOpInterface>(parent);
  for (Value operand : llvm::make_filter_range(parent->getOperands(), isTile))
    follow(operand, isLoop ? parent : nullptr);
  for (Region &region : parent->getRegions())
    for (Block &block : region)
      for (Value operand : llvm::make_filter_range(block.getTerminator()->getOperands(), isTile))
        follow(operand, isLoop ? parent : nullptr);
}

void Analysis::use(Operation *op) {
  std::optional<Pipe> pipe = pipeOf(op);
  for (const Access &access : accessesOf(op)) {
    if (!isa<TileBufType>(access.value.getType()))
      continue;
    llvm::SmallVector<Behind, 2> found;
    llvm::SmallPtrSet<void *, 4> seen;
    findBehind(access.value, nullptr, found, seen);
    for (const Behind &behind : found) {
      extend(behind.buffer, rangeOfUse(op, access.value, behind));
      if (pipe)
        result_.buffers[behind.buffer].pipes |= 1u << static_cast<unsigned>(*pipe);
    }
  }
}

/// Same type, and the same valid part for good.
static bool sameExtents(AllocTileOp a, AllocTileOp b) {
  auto changes = [](AllocTileOp tile) {
    return llvm::any_of(tile->getUsers(),
                        [](Operation *user) { return isa<SetValidShapeOp>(user); });
  };
  return a.getType() == b.getType() && a.getValidRow() == b.getValidRow() &&
         a.getValidCol() == b.getValidCol() && !changes(a) && !changes(b);
}

void Analysis::findInPlace(Operation *op) {
  Instruction instruction(op);
  // An instruction that reads its output cannot have it in the place of an input. One whose scalar may come first fills its
  // output with that scalar before it reads the input.
  if (!instruction || !instruction.info().has(InstructionInfo::InPlace) ||
      instruction.info().has(InstructionInfo::EitherOrder) ||
      instruction.info().has(InstructionInfo::ReadsOut) || instruction.outs().size() != 1)
    return;
  auto output = instruction.outs().front().getDefiningOp<AllocTileOp>();
  if (!output || !bufferOf_.contains(output))
    return;
  for (Value value : instruction.ins()) {
    auto input = value.getDefiningOp<AllocTileOp>();
    if (!input || input == output || !bufferOf_.contains(input) || !sameExtents(input, output))
      continue;
    // Read through a view as well, it would change while it is read.
    bool isViewed = llvm::any_of(
        instruction.ins(), [&](Value other) { return other != value && rootOf(other) == value; });
    if (!isViewed)
      result_.inPlace.push_back({bufferOf_[input], bufferOf_[output], ranges_[op].begin});
  }
}

BufferLiveness Analysis::run() {
  number(function_.getBody().front(), 0);
  bindQueues();
  // Only instructions use buffers; the ends of loops and branches do not.
  for (auto [position, op] : llvm::enumerate(result_.positions))
    if (!op->getNumRegions())
      use(op);
  for (LiveBuffer &buffer : result_.buffers)
    if (isa<ReserveBufferOp>(buffer.op))
      buffer.live = {0, std::max(nextPosition(), 1u) - 1};
  for (Operation *op : result_.positions)
    findInPlace(op);
  return std::move(result_);
}

BufferLiveness analyseBuffers(func::FuncOp function) { return Analysis(function).run(); }

} // namespace ptl::block
