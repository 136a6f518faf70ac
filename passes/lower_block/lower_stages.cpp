// Loops of which a part runs some iterations ahead.
#include "passes/lower_block/lowering.h"
#include "passes/transform/peel_stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace ptl::block {

/// Where a value that a later stage reads stands: in the slot of its iteration.
void KernelLowering::lowerKept(Operation *op, Value value, Value number) {
  std::optional<Extents2> extents = extentsOf(op, value.getType());
  if (!extents)
    return;
  Tile kept;
  kept.extents = *extents;
  kept.element = ir::elementTypeOf(value.getType());
  kept.form = formOf(kept);
  pto::TileBufType type = allocateType(kept);
  Value &slots = keptSlots_[value];
  if (!slots) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPoint(keptBefore_);
    slots = b_.create<pto::AllocMultiTileOp>(
        named(value), pto::MultiTileBufType::get(b_.getContext(), type, keptCount_), Value());
  }
  Extents2 stored = storage(kept).first;
  kept.buffer = b_.create<pto::MultiTileGetOp>(
      named(value), type, slots, number,
      type.getValidRows() == pto::kDynamic ? stored.validRows : Value(),
      type.getValidCols() == pto::kDynamic ? stored.validCols : Value());
  tiles_[value] = kept;
}

/// What a later stage reads is made in its slot, or copied there.
void KernelLowering::lowerAndKeep(Operation *op, const LoopStages &stages, Value number) {
  llvm::SmallVector<std::pair<Value, Tile>> kept;
  for (Value result : op->getResults())
    if (stages.kept.contains(result)) {
      lowerKept(op, result, number);
      if (failed_)
        return;
      kept.emplace_back(result, tiles_.lookup(result));
      wanted_[result] = kept.back().second.buffer;
      tiles_.erase(result);
    }
  lowerOp(op);
  for (const auto &[value, tile] : kept) {
    if (failed_)
      return;
    keep(value, tile, op->getLoc());
    setTile(value, tile);
  }
}

/// Before what reads kept values of an earlier stage: their slots of this iteration.
void KernelLowering::fetchKept(Operation *op, const LoopStages &stages, Value number) {
  auto fetch = [&](Value value) {
    if (stages.kept.contains(value) && !tiles_.contains(value))
      lowerKept(op, value, number);
  };
  llvm::for_each(op->getOperands(), fetch);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), fetch); });
}

/// One stage of one iteration: `variable` is the loop's, `number` counts iterations.
void KernelLowering::lowerStage(scf::ForOp loop, const LoopStages &stages, int stage,
                                Value variable, Value number, CarriedTiles tiles) {
  const auto &operations = stages.operations[static_cast<size_t>(stage)];
  auto buffers = std::move(partBuffers_);
  partBuffers_.clear();
  scalars_[loop.getInductionVar()] = variable;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (const auto &[i, tile] : tiles) {
    if (stages.stageOfVariable[i] != stage)
      continue;
    setTile(loop.getRegionIterArg(i), tile);
    wanted_[yield.getOperand(i)] = tile.buffer;
  }
  if (stage == 1)
    for (Value value : stages.kept)
      tiles_.erase(value);
  auto crosses = [&](Value value) {
    auto arrival = stages.arrivals.find(value);
    if (arrival != stages.arrivals.end() ? arrival->second == stage
                                         : operations.contains(value.getDefiningOp()))
      cross(value);
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (failed_)
      break;
    loc_ = op.getLoc();
    if (operations.contains(&op)) {
      popFor(&op);
      if (stage == 1)
        fetchKept(&op, stages, number);
      lowerAndKeep(&op, stage == 0 ? stages : LoopStages(), number);
    } else if (isa<ir::SliceOp, ir::LoadOp>(op) && !isScalar(op.getResult(0))) {
      bindLengths(&op);
    }
    llvm::for_each(op.getResults(), crosses);
    if (!failed_ && !popped_.empty())
      freeSlots(&op);
  }
  partBuffers_ = std::move(buffers);
  if (failed_)
    return;
  llvm::SmallVector<std::pair<unsigned, Tile>> own;
  llvm::copy_if(tiles, std::back_inserter(own),
                [&](const auto &each) { return stages.stageOfVariable[each.first] == stage; });
  keepAll(yield.getOperands(), own, loop.getLoc());
  freeSlots(yield);
}

/// for i { if i is a turn: ahead(i) ; if i - n is one: behind(i - n) }, with n turns more.
void KernelLowering::lowerInStages(scf::ForOp loop, const LoopStages &stages, CarriedTiles tiles) {
  Location loc = loop.getLoc();
  Value lower = scalarOf(loop.getLowerBound()), upper = scalarOf(loop.getUpperBound()),
        step = scalarOf(loop.getStep());
  int64_t turns = turnsAhead();
  Value lead = turns == 1 ? step : b_.createOrFold<arith::MulIOp>(loc, step, constant(turns));
  OpBuilder::InsertionGuard guard(b_);
  Value some = b_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lower, upper);
  Value end = b_.createOrFold<arith::SelectOp>(
      loc, some, b_.createOrFold<arith::AddIOp>(loc, upper, lead), lower);
  Value first = b_.createOrFold<arith::AddIOp>(loc, lower, lead);
  auto made = b_.create<scf::ForOp>(loc, lower, end, step);
  made->setAttr(pto::kStageAttribute, b_.getI64IntegerAttr(turns));
  int64_t slotsAround = std::exchange(keptCount_, turns + 1);
  Operation *outer = std::exchange(keptBefore_, made);
  auto done = llvm::make_scope_exit([&] {
    keptBefore_ = outer;
    keptCount_ = slotsAround;
  });
  for (Value value : stages.kept)
    keptSlots_.erase(value);
  {
    OpBuilder::InsertionGuard inside(b_);
    b_.setInsertionPointToStart(made.getBody());
    Value variable = made.getInductionVar();
    Value number = matchPattern(lower, m_Zero())
                       ? variable
                       : b_.create<arith::SubIOp>(loc, variable, lower).getResult();
    if (!matchPattern(step, m_One()))
      number = b_.create<arith::DivUIOp>(loc, number, step);
    Value before = b_.create<arith::SubIOp>(loc, number, constant(turns)),
          last = b_.create<arith::SubIOp>(loc, variable, lead);
    int64_t slots = loop->getAttrOfType<IntegerAttr>("ptl.pipeline").getInt();
    rotations_.push_back({made, number, slots});
    auto stageIf = [&](Value holds, int stage, Value at, Value turn) {
      auto branch = b_.create<scf::IfOp>(loc, holds, /*withElseRegion=*/false);
      branch->setAttr(pto::kStageAttribute, b_.getI64IntegerAttr(stage));
      OpBuilder::InsertionGuard within(b_);
      b_.setInsertionPointToStart(&branch.getThenRegion().front());
      rotations_.back().slot = turn;
      lowerStage(loop, stages, stage, at, turn, tiles);
    };
    using P = arith::CmpIPredicate;
    stageIf(b_.create<arith::CmpIOp>(loc, P::slt, variable, upper), 0, variable, number);
    if (!failed_)
      stageIf(b_.create<arith::CmpIOp>(loc, P::sge, variable, first), 1, last, before);
    rotations_.pop_back();
  }
  if (failed_)
    return;
  for (const auto &[i, tile] : tiles)
    setTile(loop.getResult(i), tile);
}

} // namespace ptl::block
