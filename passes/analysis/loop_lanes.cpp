#include "passes/analysis/loop_lanes.h"

#include "passes/analysis/kept_axis.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::ir {

static bool isArray(Value value) { return isa<ArrayType>(value.getType()); }

static const Extent &extentOf(Value value, int64_t axis) {
  return extentsOf(value.getType())[static_cast<size_t>(axis)];
}

bool LoopLanes::isOutside(Value value) const {
  return value.getDefiningOp() != loop_ &&
         !loop_->isAncestor(value.getParentBlock()->getParentOp());
}

void LoopLanes::join(Value a, int64_t axisA, Value b, int64_t axisB) {
  classes_.unionSets(node(a, axisA), node(b, axisB));
}

/// Two names of one value, as what a loop carries has several.
void LoopLanes::joinAll(Value a, Value b) {
  for (int64_t axis = 0; axis < rankOf(a.getType()); ++axis)
    join(a, axis, b, axis);
}

void LoopLanes::keepWhole(Value value) {
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis)
    keepWhole(value, axis);
}

// ---- What each operation says of the axes of its operands and results -----------------------------

/// The axes of an operand are those of the result as far as a part of one follows from that part of the other; all others are needed
/// whole.
bool LoopLanes::visitTiled(Operation *op) {
  Value result = op->getResult(0);
  std::set<Node> reached;
  for (int64_t axis = 0; axis < rankOf(result.getType()); ++axis) {
    // One axis of the result is cut at a time, to see which axes of operands are cut with it.
    AxisMap probe(static_cast<size_t>(rankOf(result.getType())), kWhole);
    probe[static_cast<size_t>(axis)] = 0;
    std::optional<llvm::SmallVector<AxisMap>> maps = operandAxes(op, probe);
    if (!maps) {
      keepWhole(result, axis);
      continue;
    }
    for (auto [operand, map] : llvm::zip(op->getOperands(), *maps))
      for (auto [own, id] : llvm::enumerate(map))
        if (id == 0) {
          join(result, axis, operand, static_cast<int64_t>(own));
          reached.insert(node(operand, static_cast<int64_t>(own)));
        }
  }
  // What no axis of the result follows, an axis that is summed for instance, every part needs whole.
  for (Value operand : op->getOperands())
    for (int64_t axis = 0; axis < rankOf(operand.getType()); ++axis)
      if (!reached.count(node(operand, axis)))
        keepWhole(operand, axis);
  return true;
}

/// A box of an array from outside may be any box, for each lane a part of it is read. Of what the loop computes only complete axes
/// remain lanes.
bool LoopLanes::visitSlice(Operation *op, Value base, Value value) {
  auto slice = cast<SliceOp>(op);
  // Which positions lie beyond the edge is counted in the whole array, and a part has other positions.
  if (slice.getOutside()) {
    keepWhole(value);
    keepWhole(base);
    return true;
  }
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis) {
    Value length = slice.getLengths()[static_cast<size_t>(
        keptAxis(slice.getDropped(), rankOf(base.getType()), axis))];
    if (isOutside(length))
      boxLengths_[node(value, axis)] = length;
  }
  if (isOutside(base))
    return true;
  std::set<int64_t> complete;
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis) {
    int64_t own = keptAxis(slice.getDropped(), rankOf(base.getType()), axis);
    bool isComplete = slice.getSteps().empty() && extentOf(base, own) == extentOf(value, axis) &&
                      matchPattern(slice.getOffsets()[static_cast<size_t>(own)], m_Zero());
    if (isComplete) {
      join(value, axis, base, own);
      complete.insert(own);
    } else {
      keepWhole(value, axis);
    }
  }
  for (int64_t axis = 0; axis < rankOf(base.getType()); ++axis)
    if (!complete.count(axis))
      keepWhole(base, axis);
  return true;
}

/// A box of storage that is written or read. A lane must be at the same positions in all boxes of written storage.
bool LoopLanes::visitStorage(Operation *op, Value ref, Value value) {
  auto [offsets, steps, dropped] =
      isa<StoreOp>(op) ? std::tuple(cast<StoreOp>(op).getOffsets(), cast<StoreOp>(op).getSteps(),
                                    cast<StoreOp>(op).getDropped())
                       : std::tuple(cast<LoadOp>(op).getOffsets(), cast<LoadOp>(op).getSteps(),
                                    cast<LoadOp>(op).getDropped());
  int64_t rank = rankOf(value.getType()),
          kept = rankOf(ref.getType()) - static_cast<int64_t>(dropped.size());
  auto &known = offsets_.try_emplace(ref, offsets.begin(), offsets.end()).first->second;
  for (int64_t axis = 0; axis < kept; ++axis) {
    int64_t own = keptAxis(dropped, rankOf(ref.getType()), axis), ofValue = axis - (kept - rank);
    auto at = static_cast<size_t>(own);
    // A value that is shorter is broadcast to the box: every position gets the same element.
    bool isBroadcast = ofValue < 0 || (extentOf(value, ofValue).isOne());
    bool isSame = isEqualConstantIntOrValue(OpFoldResult(known[at]), OpFoldResult(offsets[at])) &&
                  isOutside(offsets[at]);
    if (!steps.empty() || !isSame || isBroadcast)
      keepWhole(ref, own);
    if (!isBroadcast)
      join(value, ofValue, ref, own);
  }
  for (int64_t axis : dropped)
    keepWhole(ref, axis);
  return true;
}

void LoopLanes::visitBranches(scf::IfOp branch) {
  for (Region *arm : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!arm->empty())
      for (auto [result, yielded] :
           llvm::zip(branch.getResults(), arm->front().getTerminator()->getOperands()))
        if (isArray(result)) {
          joinAll(result, yielded);
          values_.push_back(result);
        }
}

bool LoopLanes::visitLoop(scf::ForOp loop) {
  for (auto [i, carried] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (!isArray(carried))
      continue;
    joinAll(carried, loop.getInitArgs()[i]);
    joinAll(carried, loop.getBody()->getTerminator()->getOperand(static_cast<unsigned>(i)));
    joinAll(carried, loop.getResult(static_cast<unsigned>(i)));
    values_.push_back(carried);
    // What is carried is read by the next round: these rounds cannot be executed in any order.
    results_.push_back(carried);
    isRecurrence_ = true;
  }
  return visit(*loop.getBody());
}

/// Whether a length only says how much of the same axis a box has; a box of another value would become
/// as short as a tile.
static bool isOnlyLengthOfBoxes(DimOp dim) {
  return llvm::all_of(dim->getUses(), [&](OpOperand &use) {
    auto isLengthOf = [&](auto box, Value of) {
      unsigned first = box.getLengths().getBeginOperandIndex(), number = use.getOperandNumber();
      return of == dim.getSource() && number >= first && number < first + box.getLengths().size();
    };
    if (auto slice = dyn_cast<SliceOp>(use.getOwner()))
      return isLengthOf(slice, slice.getSource());
    auto store = dyn_cast<StoreOp>(use.getOwner());
    return store && isLengthOf(store, store.getValue());
  });
}

static bool isOfKind(Operation *op) {
  return isElementwise(op) || isReduction(op) || isCumulative(op) ||
         isa<CastOp, NewAxisOp, TransposeOp, BroadcastOp>(op);
}

bool LoopLanes::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    visitBranches(branch);
    return llvm::all_of(op->getRegions(),
                        [&](Region &arm) { return arm.empty() || visit(arm.front()); });
  }
  if (op->getNumRegions() != 0)
    return false;
  if (auto store = dyn_cast<StoreOp>(op)) {
    // Storage under another name would hide that two boxes overlap.
    Operation *made = store.getRef().getDefiningOp();
    if (store.getIndex() || store.getAtomic() || (made && !isa<AllocOp>(made)))
      return false;
    written_.insert(store.getRef());
    for (auto [axis, length] : llvm::enumerate(store.getLengths()))
      if (isOutside(length))
        boxLengths_[node(store.getRef(), static_cast<int64_t>(axis))] = length;
    results_.push_back(store.getRef());
    return visitStorage(op, store.getRef(), store.getValue());
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (load.getOutside())
      return false;
    if (isArray(load.getResult()))
      values_.push_back(load.getResult());
    return true; // Of storage that the loop does not write, any box may be read; see `visit` of the block.
  }
  if (!isMemoryEffectFree(op))
    return false;
  bool hasArrays =
      llvm::any_of(op->getOperands(), isArray) || llvm::any_of(op->getResults(), isArray);
  if (!hasArrays)
    return true;
  if (auto dim = dyn_cast<DimOp>(op)) {
    // As a number, the length is that of the whole axis.
    if (!isOutside(dim.getSource()) && !isOnlyLengthOfBoxes(dim))
      keepWhole(dim.getSource(), static_cast<int64_t>(dim.getAxis()));
    return true;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    if (isArray(slice.getResult()))
      values_.push_back(slice.getResult());
    return visitSlice(op, slice.getSource(), slice.getResult());
  }
  if (isa<ZerosOp, OnesOp, FullOp>(op)) {
    values_.push_back(op->getResult(0));
    return true;
  }
  if (op->getNumResults() != 1 || !isArray(op->getResult(0)) || !isOfKind(op))
    return false;
  values_.push_back(op->getResult(0));
  return visitTiled(op);
}

bool LoopLanes::visit(Block &block) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) { return visit(&op); });
}

// ---- The lanes -----------------------------------------------------------------------------------

/// Axes of one value that belong together, as in `x + x.T`, are no lane.
void LoopLanes::separate(Value value, std::set<Node> &refused) const {
  std::set<Node> seen;
  for (int64_t axis = 0; axis < rankOf(value.getType()); ++axis)
    if (auto found = classes_.findLeader(node(value, axis)); found != classes_.member_end())
      if (!seen.insert(*found).second)
        refused.insert(*found);
}

bool LoopLanes::hasAxisOf(Value value, const Node &leader) const {
  return llvm::any_of(llvm::seq<int64_t>(0, rankOf(value.getType())), [&](int64_t axis) {
    auto found = classes_.findLeader(node(value, axis));
    return found != classes_.member_end() && *found == leader;
  });
}

/// Every result of the loop must have each lane; what lacks it would be computed and stored by all parts of the lane.
bool LoopLanes::choose() {
  std::set<Node> refused;
  for (const Node &each : whole_)
    if (auto found = classes_.findLeader(each); found != classes_.member_end())
      refused.insert(*found);
  for (const auto &each : classes_)
    separate(Value::getFromOpaquePointer(each.getData().first), refused);
  // The lanes get the order of the axes of the result with most of them: the last lane is then the one along which elements lie
  // side by side in memory, and becomes the columns of tiles.
  Value longest;
  for (Value result : results_)
    if (!longest || rankOf(result.getType()) > rankOf(longest.getType()))
      longest = result;
  for (int64_t axis = 0; longest && axis < rankOf(longest.getType()); ++axis) {
    auto leader = classes_.findLeader(node(longest, axis));
    if (leader == classes_.member_end() || refused.count(*leader) ||
        extentOf(longest, axis).isOne())
      continue;
    if (llvm::all_of(results_, [&](Value result) { return hasAxisOf(result, *leader); }))
      lanes_.push_back(*leader);
  }
  return !lanes_.empty();
}

AxisMap LoopLanes::mapOf(Value value) const {
  AxisMap map(static_cast<size_t>(rankOf(value.getType())), kWhole);
  for (auto [axis, id] : llvm::enumerate(map))
    if (auto found = classes_.findLeader(node(value, static_cast<int64_t>(axis)));
        found != classes_.member_end())
      if (const auto *lane = llvm::find(lanes_, *found); lane != lanes_.end())
        id = lane - lanes_.begin();
  return map;
}

void LoopLanes::findHeld() {
  // Axes without a bound that are no lanes follow the lanes in the same list: a tile holds them whole, so it must be known how long
  // they may be.
  numLanes_ = lanes_.size();
  for (Value value : values_) {
    rank_ = std::max(rank_, extentsOf(value.getType()).size());
    for (auto [axis, lane] : llvm::enumerate(mapOf(value)))
      if (lane == kWhole && extentsOf(value.getType())[axis].capacity == Extent::kUnknown)
        lanes_.push_back(classes_.getOrInsertLeaderValue(node(value, static_cast<int64_t>(axis))));
  }
}

int64_t LoopLanes::elementsBeside(int64_t held) const {
  int64_t most = 1;
  for (Value value : values_) {
    int64_t elements = 1;
    for (auto [extent, lane] : llvm::zip(extentsOf(value.getType()), mapOf(value))) {
      if (lane == kWhole)
        elements *= std::max<int64_t>(extent.capacity, 1);
      else if (lane >= static_cast<int64_t>(numLanes_))
        elements *= held;
    }
    most = std::max(most, elements);
  }
  return most;
}

bool LoopLanes::isInRows(size_t lane) const {
  return llvm::any_of(values_, [&](Value value) {
    return rankOf(value.getType()) >= 2 && mapOf(value).back() == static_cast<int64_t>(lane);
  });
}

bool LoopLanes::findLengths() {
  for (const Node &leader : lanes_) {
    Length length;
    for (auto member = classes_.findLeader(leader); member != classes_.member_end(); ++member) {
      Value value = Value::getFromOpaquePointer(member->first);
      // The length of an array outside can be asked before the loop; the length of a box serves where there is no such array.
      if (isArray(value) && isOutside(value))
        length = {value, member->second, {}};
      else if (auto found = boxLengths_.find(*member); found != boxLengths_.end() && !length.array)
        length.number = found->second;
    }
    if (!length.array && !length.number)
      return false;
    lengths_.push_back(length);
  }
  return true;
}

std::optional<LoopLanes> LoopLanes::of(scf::ForOp loop, bool mayReread) {
  if (loop->getParentOfType<ParallelOp>())
    return std::nullopt;
  // A number that the loop leaves is wanted once, not from each part of a lane.
  for (Value result : loop.getResults())
    if (!isArray(result) && !result.use_empty())
      return std::nullopt;
  LoopLanes lanes(loop);
  if (!lanes.visit(loop) || lanes.results_.empty())
    return std::nullopt;
  // All stores are known by now: what they write may be read only at the same positions of a lane.
  bool isRefused = loop.walk([&](LoadOp load) {
                         if (!lanes.isWritten(load.getRef()))
                           return WalkResult::advance();
                         if (!mayReread || !isArray(load.getResult()))
                           return WalkResult::interrupt();
                         lanes.visitStorage(load, load.getRef(), load.getResult());
                         lanes.isRecurrence_ = true;
                         return WalkResult::advance();
                       })
                       .wasInterrupted();
  if (isRefused || !lanes.choose())
    return std::nullopt;
  lanes.findHeld();
  if (!lanes.findLengths())
    return std::nullopt;
  return lanes;
}

} // namespace ptl::ir
