// Values that cross between the cube and the vector cores: one queue per value, pushed where it is
// made and popped at the same place on the other side.
#include "passes/lower_block/lowering.h"

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

/// Makes the queues at the start of the function, alike on both sides: flags, slots and their place
/// in the workspace follow from the order of the crossings.
void KernelLowering::openQueues(ir::ParallelOp grid) {
  if (!cores_.isMixed())
    return;
  bool direct = directQueues();
  int64_t offset = 0, numSlots = slotsOf(machine_);
  int32_t flag = 0;
  MLIRContext *context = b_.getContext();
  Value group = b_.create<pto::GetBlockIdxOp>(loc_, b_.getI64Type());
  Value groupIndex = b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), group);
  for (bool toVector : {true, false})
    for (Value value : toVector ? cores_.toVector : cores_.toCube) {
      auto extents = capacities(value, capacities_);
      Location loc = named(value);
      if (!extents) {
        fail(value.getDefiningOp() ? value.getDefiningOp() : grid.getOperation(),
             "a value without a static bound that crosses between cores");
        return;
      }
      Type element = ir::elementTypeOf(value.getType());
      int64_t bytes = ((extents->first + 15) / 16 * 16) * ((extents->second + 15) / 16 * 16) *
                      pto::elementBytes(element);
      bool consumer = toVector == (core_ == CoreKind::Vector);
      int64_t local = toVector && cores_.dealt ? bytes / 2 : bytes;
      Value address = b_.create<arith::ConstantIntOp>(loc_, 0, 32);
      std::string name = "queue" + std::to_string(flag / 2);
      if (consumer)
        address = b_.create<pto::ReserveBufferOp>(
            loc, b_.getI32Type(), b_.getStringAttr(name),
            b_.getI32IntegerAttr(
                static_cast<int32_t>(direct ? numSlots * local : options_.queueSlots * bytes)),
            b_.getStringAttr(toVector ? "vec" : "mat"), b_.getBoolAttr(true), IntegerAttr());
      auto mask = b_.getI8IntegerAttr(toVector ? 1 : 2);
      auto size = b_.getI32IntegerAttr(static_cast<int32_t>(bytes)),
           slots = b_.getI32IntegerAttr(static_cast<int32_t>(numSlots)),
           held = b_.getI32IntegerAttr(static_cast<int32_t>(options_.queueSlots));
      BoolAttr nosplit = cores_.dealt ? BoolAttr() : b_.getBoolAttr(true);
      if (direct) {
        if (!consumer)
          address = b_.create<pto::ImportReservedBufferOp>(
              loc, b_.getI32Type(), b_.getStringAttr(name), FlatSymbolRefAttr::get(context, peer_));
        queues_[value] = b_.create<pto::InitializeL2LPipeOp>(
            loc, pto::PipeHandleType::get(context), mask, size, slots, IntegerAttr(),
            b_.getI32IntegerAttr(flag), nosplit, address);
      } else {
        // Each core group has its own ring in the workspace.
        Value first =
            b_.createOrFold<arith::MulIOp>(loc_, groupIndex, constant(workspaceBytes_ / 4));
        first = b_.createOrFold<arith::AddIOp>(loc_, first, constant(offset / 4));
        Value ring = b_.create<pto::AddPtrOp>(loc, workspace_.getType(), workspace_, first);
        queues_[value] = b_.create<pto::InitializeL2G2LPipeOp>(
            loc, pto::PipeHandleType::get(context), mask, size, slots, held,
            b_.getI32IntegerAttr(flag), nosplit, ring, address);
      }
      offset += numSlots * bytes;
      flag += 2;
    }
}

int64_t workspaceOf(const CoreAssignment &cores, ir::ParallelOp grid, const Machine &machine) {
  int64_t slots = slotsOf(machine);
  llvm::DenseMap<StringAttr, int64_t> bounds = capacitiesOf(grid);
  int64_t total = 0;
  for (const llvm::SmallVector<Value> *list : {&cores.toVector, &cores.toCube})
    for (Value value : *list)
      if (auto extents = capacities(value, bounds))
        total += slots * ((extents->first + 15) / 16 * 16) * ((extents->second + 15) / 16 * 16) *
                 pto::elementBytes(ir::elementTypeOf(value.getType()));
  return (total + 511) / 512 * 512;
}

/// After a value's definition: its producer pushes it, its consumer pops it.
void KernelLowering::cross(Value value) {
  Value queue = queues_.lookup(value);
  if (!queue || failed_)
    return;
  bool toVector = llvm::is_contained(cores_.toVector, value);
  if (toVector == (core_ == CoreKind::Cube))
    push(value, queue);
  else
    pop(value, queue, toVector);
}

void KernelLowering::push(Value value, Value queue) {
  Location loc = named(value);
  const Tile *found = tileOf(value);
  if (!found) {
    fail(value.getDefiningOp(), "this value crossing between cores");
    return;
  }
  Tile tile = found->form == Form::Acc ? *found : materialise(*found, loc);
  // Slots have the whole capacity, so that both sides agree on where rows lie.
  b_.create<pto::TPushOp>(loc, fullView(tile.buffer), queue,
                          b_.getI8IntegerAttr(cores_.dealt ? 1 : 0));
}

void KernelLowering::pop(Value value, Value queue, bool toVector) {
  Location loc = named(value);
  Operation *op =
      value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
  std::optional<Extents2> extents = extentsOf(op, value.getType());
  if (!extents)
    return;
  Tile tile;
  tile.extents = *extents;
  tile.element = ir::elementTypeOf(value.getType());
  tile.form = toVector ? Form::Whole : Form::Matrix;
  pto::TileBufType type = tileType(toVector ? ir::Place::Vec : ir::Place::Mat,
                                   toVector ? "nd" : "nz", tile.extents, tile.element);
  auto full = type.withValid(type.getRows(), type.getCols());
  Value popped = b_.create<pto::DeclareTileOp>(loc, full, Value(), Value());
  auto split = b_.getI8IntegerAttr(cores_.dealt ? 1 : 0);
  b_.create<pto::TPopOp>(loc, popped, queue, split);
  tile.buffer = reshape(popped, type, tile.extents.validRows, tile.extents.validCols);
  setTile(value, tile);
  if (directQueues())
    popped_.push_back({queue, split, value});
  else
    b_.create<pto::TFreeOp>(loc, queue, split); // it has been copied from global memory
}

/// In the consumer's own memory a slot is given back at the end of the block that popped it.
void KernelLowering::freeSlots(Block &block) {
  llvm::erase_if(popped_, [&](Popped slot) {
    bool here = slot.value.getParentBlock() == &block;
    if (here)
      b_.create<pto::TFreeOp>(named(slot.value), slot.queue, slot.split);
    return here;
  });
}

bool KernelLowering::directQueues() const { return machine_.exchange.throughBuffer; }

/// This vector core's part of a length whose axis is dealt: at least 1, so that instructions have
/// something to do; `present` becomes an i1 that says whether there is anything.
Value KernelLowering::dealt(Value length, const ir::Extent &extent, Value *present) {
  if (core_ != CoreKind::Vector || !extent.symbol || extent.symbol != cores_.dealt || !length)
    return length;
  int64_t half = capacityOf(extent);
  IntegerAttr number;
  if (matchPattern(length, m_Constant(&number)) && number.getInt() == 2 * half)
    return constant(half);
  Value &own = dealtLengths_[length];
  if (!own) {
    OpBuilder::InsertionGuard guard(b_); // beside the length, so that every use comes after it
    b_.setInsertionPointAfterValue(length);
    Value before = b_.createOrFold<arith::MulIOp>(loc_, subblock_, constant(half));
    Value rest = b_.createOrFold<arith::SubIOp>(loc_, length, before);
    own = b_.createOrFold<arith::MaxSIOp>(loc_, minimum(rest, constant(half)), constant(1));
    dealtPresent_[length] =
        b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sgt, rest, constant(0));
  }
  if (present)
    *present = dealtPresent_[length];
  return own;
}

} // namespace ptl::block
