// Loops of which a part runs some iterations ahead.
#include "passes/lower_block/lower_stages.h"
#include "ir/dialect/attributes.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/lower_control.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/tiles.h"
#include "passes/transform/peel_stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ptl::block {

/// The slots of a value that a later stage reads. Small ones beside rings have as many as rings may
/// have: what rotates together comes round together, and takes fewer turns to judge.
static int64_t keptSlots(const KernelContext &c, pto::TileBufType type) {
  constexpr int64_t small = 1 << 10;
  bool isSmall = c.options.slices > 1 && type.getBytes() <= small;
  return isSmall ? static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(c.keptCount)))
                 : c.keptCount;
}

/// Finds a value that a later stage reads: it is in the slot of its iteration.
static void lowerKept(KernelContext &c, Operation *op, Value value, Value number) {
  std::optional<Tile> made = tileFor(c, op, value.getType());
  if (!made)
    return;
  Tile &kept = *made;
  pto::TileBufType type = allocateType(c, kept);
  Value &slots = c.keptSlots[value];
  if (!slots) {
    OpBuilder::InsertionGuard guard(c.b);
    // The slots outlive the rounds of the loop.
    c.b.setInsertionPoint(c.keptBefore);
    slots = c.b.create<pto::AllocMultiTileOp>(
        named(c, value), pto::MultiTileBufType::get(c.b.getContext(), type, keptSlots(c, type)),
        Value());
  }
  Extents2 stored = storage(c, kept).first;
  kept.buffer = c.b.create<pto::MultiTileGetOp>(
      named(c, value), type, slots, number,
      type.getValidRows() == pto::kDynamic ? stored.validRows : Value(),
      type.getValidCols() == pto::kDynamic ? stored.validCols : Value());
  c.tiles.set(value, kept);
}

/// Lowers an operation and puts a result that a later stage reads into its slot, if it was not made
/// there.
static void lowerAndKeep(KernelContext &c, Operation *op, const LoopStages &stages, Value number) {
  llvm::SmallVector<std::pair<Value, Tile>> kept;
  for (Value result : op->getResults())
    if (stages.kept.contains(result)) {
      lowerKept(c, op, result, number);
      if (c.failed)
        return;
      kept.emplace_back(result, *c.tiles.find(result));
      c.wanted[result] = kept.back().second.buffer;
      // The operation binds its result itself; until then it has no tile.
      c.tiles.erase(result);
    }
  lowerOp(c, op);
  for (const auto &[value, tile] : kept) {
    if (c.failed)
      return;
    keep(c, value, tile, op->getLoc());
    setTile(c, value, tile);
  }
}

/// Before what reads kept values of an earlier stage: their slots of this iteration.
static void fetchKept(KernelContext &c, Operation *op, const LoopStages &stages, Value number) {
  auto fetch = [&](Value value) {
    // A slot is named once in each stage.
    if (stages.kept.contains(value) && !c.tiles.find(value))
      lowerKept(c, op, value, number);
  };
  llvm::for_each(op->getOperands(), fetch);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), fetch); });
}

/// One stage of one iteration: `variable` is the loop's, `number` counts iterations.
static void lowerStage(KernelContext &c, scf::ForOp loop, const LoopStages &stages, int stage,
                       Value variable, Value number, CarriedTiles tiles) {
  const auto &operations = stages.operations[static_cast<size_t>(stage)];
  auto buffers = std::move(c.partBuffers);
  // Buffers of parts are made in the branch of a stage, so the other stage cannot use them.
  c.partBuffers.clear();
  c.scalars[loop.getInductionVar()] = variable;
  c.rangeEnds[variable] = scalarOf(c, loop.getUpperBound());
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (const auto &[i, tile] : tiles) {
    if (stages.stageOfVariable[i] != stage)
      continue;
    setTile(c, loop.getRegionIterArg(i), tile);
    c.wanted[yield.getOperand(i)] = tile.buffer;
  }
  if (stage == 1)
    for (Value value : stages.kept)
      // Behind, the value is that of an earlier round, in its slot.
      c.tiles.erase(value);
  auto crosses = [&](Value value) {
    auto arrival = stages.arrivals.find(value);
    if (arrival != stages.arrivals.end() ? arrival->second == stage
                                         : operations.contains(value.getDefiningOp()))
      cross(c, value);
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (c.failed)
      break;
    c.loc = op.getLoc();
    if (operations.contains(&op)) {
      popFor(c, &op);
      if (stage == 1)
        fetchKept(c, &op, stages, number);
      lowerAndKeep(c, &op, stage == 0 ? stages : LoopStages(), number);
    } else if (op.getNumResults() > 0 && !isScalar(c, op.getResult(0))) {
      bindLengths(c, &op); // of this iteration
    }
    llvm::for_each(op.getResults(), crosses);
    if (!c.failed && !(c.popped.empty() && c.taken.empty()))
      freeSlots(c, &op);
  }
  c.partBuffers = std::move(buffers);
  if (c.failed)
    return;
  llvm::SmallVector<std::pair<unsigned, Tile>> own;
  llvm::copy_if(tiles, std::back_inserter(own),
                [&](const auto &each) { return stages.stageOfVariable[each.first] == stage; });
  keepAll(c, yield.getOperands(), own, loop.getLoc());
  freeSlots(c, yield);
}

void lowerInStages(KernelContext &c, scf::ForOp loop, const LoopStages &stages,
                   CarriedTiles tiles) {
  Location loc = loop.getLoc();
  Value lower = scalarOf(c, loop.getLowerBound()), upper = scalarOf(c, loop.getUpperBound()),
        step = scalarOf(c, loop.getStep());
  int64_t turns = turnsOf(loop);
  Value lead = turns == 1 ? step : c.b.createOrFold<arith::MulIOp>(loc, step, constant(c, turns));
  OpBuilder::InsertionGuard guard(c.b);
  Value some = c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lower, upper);
  // Some more rounds let what is behind catch up; a loop without rounds gets none.
  Value end = c.b.createOrFold<arith::SelectOp>(
      loc, some, c.b.createOrFold<arith::AddIOp>(loc, upper, lead), lower);
  Value first = c.b.createOrFold<arith::AddIOp>(loc, lower, lead);
  auto made = c.b.create<scf::ForOp>(loc, lower, end, step);
  attrs::stage.set(made, turns);
  // While so many rounds are ahead, one more value is read.
  int64_t slotsAround = std::exchange(c.keptCount, turns + 1);
  Operation *outer = std::exchange(c.keptBefore, made);
  auto done = llvm::make_scope_exit([&] {
    c.keptBefore = outer;
    c.keptCount = slotsAround;
  });
  for (Value value : stages.kept)
    // A loop within another one has slots of its own each time it is lowered.
    c.keptSlots.erase(value);
  {
    OpBuilder::InsertionGuard inside(c.b);
    c.b.setInsertionPointToStart(made.getBody());
    Value variable = made.getInductionVar();
    Value number = matchPattern(lower, m_Zero())
                       ? variable
                       : c.b.create<arith::SubIOp>(loc, variable, lower).getResult();
    if (!matchPattern(step, m_One()))
      number = c.b.create<arith::DivUIOp>(loc, number, step);
    Value before = c.b.create<arith::SubIOp>(loc, number, constant(c, turns)),
          last = c.b.create<arith::SubIOp>(loc, variable, lead);
    int64_t slots = attrs::pipeline.of(loop).getInt();
    c.rotations.push_back({made, number, slots});
    auto stageIf = [&](Value holds, int stage, Value at, Value turn) {
      auto branch = c.b.create<scf::IfOp>(loc, holds, /*withElseRegion=*/false);
      attrs::stage.set(branch, stage);
      OpBuilder::InsertionGuard within(c.b);
      c.b.setInsertionPointToStart(&branch.getThenRegion().front());
      // Each stage uses the buffers of its own round.
      c.rotations.back().slot = turn;
      lowerStage(c, loop, stages, stage, at, turn, tiles);
    };
    using P = arith::CmpIPredicate;
    stageIf(c.b.create<arith::CmpIOp>(loc, P::slt, variable, upper), 0, variable, number);
    if (!c.failed)
      stageIf(c.b.create<arith::CmpIOp>(loc, P::sge, variable, first), 1, last, before);
    c.rotations.pop_back();
  }
  if (c.failed)
    return;
  drainRings(c, loop);
  for (const auto &[i, tile] : tiles)
    setTile(c, loop.getResult(i), tile);
}

} // namespace ptl::block
