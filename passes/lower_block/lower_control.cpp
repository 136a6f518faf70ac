// Grids, loops, branches, and scalars.
#include "passes/lower_block/lower_control.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/positive.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/cut_products.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_manual.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_print.h"
#include "passes/lower_block/lower_product.h"
#include "passes/lower_block/lower_scalars.h"
#include "passes/lower_block/lower_shape.h"
#include "passes/lower_block/lower_stages.h"
#include "passes/lower_block/lower_while.h"
#include "passes/lower_block/meetings.h"
#include "passes/lower_block/point_order.h"
#include "passes/lower_block/queues.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

/// Whether the last step of a product is shorter than the others although all its lengths are
/// constants.
static bool hasShortStep(const KernelContext &c, ir::MatmulOp product) {
  auto leavesRest = [](int64_t length, int64_t step) {
    return step > 0 && length > step && length % step != 0;
  };
  llvm::ArrayRef<ir::Extent> left = ir::extentsOf(product->getOperand(0).getType());
  llvm::ArrayRef<ir::Extent> result = ir::extentsOf(product->getResult(0).getType());
  if (result.size() != 2)
    return false;
  const ir::Extent &contracted = left.back(), &rows = result[0], &cols = result[1];
  ProductCut cut = cutOf(product);
  if (contracted.isConstant() &&
      (leavesRest(contracted.length, cut.piece) || leavesRest(contracted.length, cut.step) ||
       leavesRest(cut.piece, cut.step)))
    return true;
  // A product that is sent through a ring may be computed some columns at a time.
  if (!rows.isConstant() || !cols.isConstant())
    return false;
  RingProduct way =
      ringProduct(rows.length, cols.length, productsAtOnce(c.cores, c.options), c.machine);
  return leavesRest(cols.length, way.cols);
}

// Whether some length differs from point to point or from step to step. Then the valid lengths of
// all tiles are values instead of parts of their types, since instructions need operands of one
// kind.
static bool hasOpenLengths(const KernelContext &c, ir::ParallelOp grid) {
  bool open = false;
  grid.walk([&](ir::MatmulOp product) { open |= hasShortStep(c, product); });
  grid.walk([&](Operation *op) {
    auto lengths = llvm::TypeSwitch<Operation *, ValueRange>(op)
                       .Case<ir::SliceOp, ir::LoadOp, ir::StoreOp, ir::ZerosOp, ir::OnesOp,
                             ir::FullOp, ir::IndexOp, ir::ReshapeOp, ir::BroadcastOp>(
                           [](auto each) { return ValueRange(each.getLengths()); })
                       .Default([](Operation *) { return ValueRange(); });
    for (Value length : lengths)
      open |= !matchPattern(length, m_Constant());
  });
  return open;
}

/// The names of lengths with capacity 1 that are never 0, as some value with that name shows. It is
/// decided per name, so that all values of a name have one form.
static llvm::DenseSet<StringAttr>
neverEmptyIn(ir::ParallelOp grid, const llvm::DenseMap<StringAttr, int64_t> &capacities) {
  llvm::DenseSet<StringAttr> names;
  grid.walk([&](Operation *op) {
    for (Value value : op->getResults())
      for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(value.getType())))
        if (extent.symbol && !names.contains(extent.symbol) &&
            capacityIn(extent, capacities) == 1 &&
            ir::hasElements(value, static_cast<int64_t>(axis)))
          names.insert(extent.symbol);
  });
  return names;
}

static void lowerPoints(KernelContext &c, ir::ParallelOp grid);
static void lowerRounds(KernelContext &c, ir::ParallelOp grid, mlir::scf::ForOp loop,
                        mlir::Value group);
static void lowerFor(KernelContext &c, mlir::scf::ForOp loop);
static void lowerIf(KernelContext &c, mlir::scf::IfOp branch);
static bool lowerScalarOp(KernelContext &c, mlir::Operation *op);
static Tile carriedTile(KernelContext &c, mlir::scf::ForOp loop, unsigned index);

bool lowerGrid(KernelContext &c, ir::ParallelOp grid) {
  // These facts about the whole grid decide the types of all buffers, so they are computed first.
  c.dynamicValid = hasOpenLengths(c, grid);
  c.capacities = capacitiesOf(grid);
  c.neverEmpty = neverEmptyIn(grid, c.capacities);
  findWideRows(c, grid);
  c.held.setMeetings(grid, c.cores.meetings, pointersMet(c));
  if (c.core == CoreKind::Cube && c.cores.isMixed())
    c.cubeNeeds = needsOfCube(grid, c.cores);
  Block *entry = &c.function.getBody().front();
  c.b.setInsertionPointToEnd(entry);
  if (c.core == CoreKind::Vector && c.cores.isMixed()) {
    // The two vector cores of a group run the same function and differ by this number.
    Value index = c.b.create<pto::GetSubBlockIdxOp>(c.loc, c.b.getI64Type());
    c.subblock = c.b.create<arith::IndexCastOp>(c.loc, c.b.getIndexType(), index);
    c.isFirst =
        c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::eq, c.subblock, constant(c, 0));
  }
  // Both cores open all queues at the start, so that they agree on their order.
  openQueues(c);
  // The operations before the grid compute its bounds and steps from the sizes.
  for (Operation &op : llvm::make_range(grid->getBlock()->begin(), grid->getIterator()))
    if (!matchPattern(&op, m_Constant()) && !lowerScalarOp(c, &op))
      fail(c, &op, "`" + op.getName().stripDialect().str() + "` of scalars");
  lowerPoints(c, grid);
  c.b.setInsertionPointToEnd(entry);
  c.b.create<func::ReturnOp>(c.loc);
  if (c.isFirst && c.isFirst.use_empty()) // the question which vector core this is was not needed
    c.isFirst.getDefiningOp()->erase();
  if (c.subblock && c.subblock.use_empty()) {
    Operation *cast = c.subblock.getDefiningOp(), *index = cast->getOperand(0).getDefiningOp();
    cast->erase();
    index->erase();
  }
  c.held.write(c.function);
  return !c.failed;
}

// The points are numbered in one range, and core group g of n takes the points g, g + n, …
static void lowerPoints(KernelContext &c, ir::ParallelOp grid) {
  c.loc = grid.getLoc();
  auto index = [&](Value id) {
    return c.b.create<arith::IndexCastOp>(c.loc, c.b.getIndexType(), id);
  };
  Value group = index(c.b.create<pto::GetBlockIdxOp>(c.loc, c.b.getI64Type()));
  Value groups = index(c.b.create<pto::GetBlockNumOp>(c.loc, c.b.getI64Type()));
  size_t rank = grid.getLower().size();
  llvm::SmallVector<Value> lower, step, count;
  // All axes together are one range, which is dealt evenly whatever the shape of the grid is.
  Value total = constant(c, 1);
  for (size_t i = 0; i < rank; ++i) {
    lower.push_back(scalarOf(c, grid.getLower()[i]));
    step.push_back(scalarOf(c, grid.getSteps()[i]));
    Value length =
        c.b.createOrFold<arith::SubIOp>(c.loc, scalarOf(c, grid.getUpper()[i]), lower[i]);
    count.push_back(matchPattern(step[i], m_One())
                        ? length
                        : c.b.createOrFold<arith::CeilDivSIOp>(c.loc, length, step[i]));
    total = i == 0 ? count[0] : c.b.createOrFold<arith::MulIOp>(c.loc, total, count[i]);
  }
  Value first = group;
  if (auto cores = attrs::cores.of(grid)) {
    groups = minimum(c, groups, constant(c, cores.getInt()));
    Value works = c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::slt, group, groups);
    // A loop that begins at its end does not run: groups beyond the number wanted get no point.
    first = c.b.create<arith::SelectOp>(c.loc, works, group, total);
  }
  PointOrder order(c, grid, count);
  auto loop = c.b.create<scf::ForOp>(c.loc, first, total, groups);
  c.gridLoop = loop;
  c.b.setInsertionPointToStart(loop.getBody());
  llvm::SmallVector<Value> positions = order.positionsOf(loop.getInductionVar());
  for (size_t i = rank; i-- > 0;) {
    Value number = positions[i];
    Value offset = matchPattern(step[i], m_One())
                       ? number
                       : c.b.createOrFold<arith::MulIOp>(c.loc, number, step[i]);
    Value at = matchPattern(lower[i], m_Zero())
                   ? offset
                   : c.b.createOrFold<arith::AddIOp>(c.loc, lower[i], offset);
    c.scalars[grid.getBody().getArgument(static_cast<unsigned>(i))] = at;
    c.rangeEnds[at] = scalarOf(c, grid.getUpper()[i]);
  }
  lowerRounds(c, grid, loop, group);
}

/// Lowers the body of the loop over the points of a core group, and drains the rings behind it.
static void lowerRounds(KernelContext &c, ir::ParallelOp grid, scf::ForOp loop, Value group) {
  Value groups = loop.getStep();
  bool hasRings =
      llvm::any_of(c.rings, [](const auto &ring) { return crossesByPoint(ring.first); });
  if (c.options.gridBuffers > 1 || hasRings) {
    Value done = c.b.create<arith::SubIOp>(c.loc, loop.getInductionVar(), group);
    c.gridRound = c.b.create<arith::DivUIOp>(c.loc, done, groups);
  }
  // The number of the round selects the buffer, so that loads of the next point can start early.
  if (c.options.gridBuffers > 1)
    c.rotations.push_back({loop, c.gridRound, c.options.gridBuffers});
  lowerBlock(c, grid.getBody().front());
  if (c.options.gridBuffers > 1)
    c.rotations.pop_back();
  if (!hasRings || c.failed)
    return;
  c.b.setInsertionPointAfter(loop);
  Value left = c.b.create<arith::SubIOp>(c.loc, loop.getUpperBound(), loop.getLowerBound());
  left = c.b.create<arith::MaxSIOp>(c.loc, left, constant(c, 0));
  drainRings(c, grid, c.b.create<arith::CeilDivSIOp>(c.loc, left, groups));
}

void lowerBlock(KernelContext &c, Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (c.failed)
      return;
    c.loc = op.getLoc();
    // Values from the other core must arrive before the operation reads them.
    popFor(c, &op);
    if (c.cores.meetings.contains(&op))
      meet(c, c.loc);
    // Lengths that are bound inside a region are not defined behind it.
    auto known = op.getNumRegions() ? c.lengths : decltype(c.lengths)();
    lowerOp(c, &op);
    for (auto [symbol, length] : known)
      c.lengths[symbol] = length;
    for (Value result : op.getResults())
      // Values are sent as soon as they are made.
      cross(c, result);
    if (!c.failed && !(c.popped.empty() && c.taken.empty()))
      // A slot is freed behind its last reader.
      freeSlots(c, &op);
  }
  if (c.failed)
    return;
  Operation *end = block.getTerminator();
  popFor(c, end);
  // The values that the block yields are first copied by the code that lowers the operation around
  // it.
  if (llvm::all_of(end->getOperands(), [&](Value value) { return isScalar(c, value); }))
    freeSlots(c, end);
}

/// A grid inside a grid: its points run one after the other on the core that has the outer point.
static void lowerNestedGrid(KernelContext &c, ir::ParallelOp grid) {
  OpBuilder::InsertionGuard guard(c.b);
  for (size_t i = 0; i < grid.getLower().size(); ++i) {
    auto loop =
        c.b.create<scf::ForOp>(c.loc, scalarOf(c, grid.getLower()[i]),
                               scalarOf(c, grid.getUpper()[i]), scalarOf(c, grid.getSteps()[i]));
    c.scalars[grid.getBody().getArgument(static_cast<unsigned>(i))] = loop.getInductionVar();
    c.b.setInsertionPointToStart(loop.getBody());
  }
  lowerBlock(c, grid.getBody().front());
}

static void lowerKind(KernelContext &c, Operation *op);

void lowerOp(KernelContext &c, Operation *op) {
  if (op->getNumRegions() && c.core == CoreKind::Cube && c.cores.isMixed() &&
      !c.cubeNeeds.control.contains(op))
    return; // The cube core needs nothing in it.
  c.held.begin();
  lowerKind(c, op);
  c.held.end(op, [&](Value value) {
    const Tile *tile = tileOf(c, value);
    return tile && tile->buffer ? pto::rootOf(tile->buffer) : Value();
  });
}

static void lowerKind(KernelContext &c, Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(c, loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(c, branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(c, loop);
  if (auto grid = dyn_cast<ir::ParallelOp>(op))
    return lowerNestedGrid(c, grid);
  if (auto check = dyn_cast<ir::CheckOp>(op))
    return lowerCheck(c, check);
  if (auto print = dyn_cast<ir::PrintOp>(op))
    return lowerPrint(c, print);
  if (isa<ir::SliceOp, ir::LoadOp>(op))
    return lowerSlice(c, op);
  if (auto store = dyn_cast<ir::StoreOp>(op)) {
    bool onCube = c.cores.coreOf(op) == CoreKind::Cube;
    // Both functions visit all operations, and each store belongs to exactly one of them.
    if (onCube == (c.core == CoreKind::Cube))
      lowerStore(c, store);
    return;
  }
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto type = dim.getSource().getType();
    const ir::Extent &extent = ir::extentsOf(type)[dim.getAxis()];
    Value length = lengthOf(c, extent);
    if (!length)
      return fail(c, op, "the length of this value");
    c.scalars[dim.getResult()] = length;
    return;
  }
  bool touchesTiles = llvm::any_of(op->getOperands(), [&](Value v) { return !isScalar(c, v); }) ||
                      llvm::any_of(op->getResults(), [&](Value v) { return !isScalar(c, v); });
  if (!touchesTiles) {
    // The cube core leaves out scalars that it does not use.
    if (llvm::any_of(op->getResults(), [&](Value v) { return isNeeded(c, v); }) &&
        !lowerScalarOp(c, op))
      fail(c, op, "`" + op->getName().stripDialect().str() + "` of scalars");
    return;
  }
  if (isa<ir::ConcatOp>(op) && c.core == CoreKind::Vector && ringOf(c, op->getResult(0)))
    return pushSlices(c, op);
  if (c.core == CoreKind::Cube) {
    if (c.cores.coreOf(op) == CoreKind::Cube)
      lowerCube(c, op);
    // The vector cores compute the operation, but its lengths may be used here.
    else if (!lowerShared(c, op))
      bindLengths(c, op);
    return;
  }
  if (c.cores.coreOf(op) == CoreKind::Cube)
    return;
  if (!lowerShared(c, op) && !lowerInItsWay(c, op))
    fail(c, op, "`" + op->getName().stripDialect().str() + "`");
}

// ---- loops --------------------------------------------------------------------------------------

/// Whether this core holds the value that a loop or a branch carries.
static bool carries(const KernelContext &c, Value value) {
  if (isScalar(c, value))
    return true;
  // Accumulators belong to the cube core, all other tiles to the vector cores.
  return c.cores.isAccumulator(value) == (c.core == CoreKind::Cube);
}

/// Yields the carried scalars that this core needs at the end of a loop body.
static void yieldScalars(KernelContext &c, scf::ForOp loop) {
  llvm::SmallVector<Value> yielded;
  for (auto [value, argument] :
       llvm::zip(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs()))
    if (isScalar(c, value) && isNeeded(c, argument))
      yielded.push_back(scalarOf(c, value));
  if (!yielded.empty())
    c.b.create<scf::YieldOp>(loop.getLoc(), yielded);
}

static void lowerFor(KernelContext &c, scf::ForOp loop) {
  Location loc = loop.getLoc();
  llvm::SmallVector<Value> inits, carriedArguments;
  llvm::SmallVector<std::pair<unsigned, Tile>> tiles;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    Value argument = loop.getRegionIterArg(static_cast<unsigned>(i));
    if (isScalar(c, init)) {
      if (!isNeeded(c, argument))
        continue;
      inits.push_back(scalarOf(c, init));
      carriedArguments.push_back(argument);
    } else if (carries(c, argument)) {
      tiles.emplace_back(static_cast<unsigned>(i), carriedTile(c, loop, static_cast<unsigned>(i)));
    }
    if (c.failed)
      return;
  }
  if (c.failed)
    return;
  auto pipeline = attrs::pipeline.of(loop);
  bool rotates = pipeline && pipeline.getInt() > 1;
  if (auto stages = markedStages(loop, c.cores, c.core); stages && stages->isSplit())
    return lowerInStages(c, loop, *stages, tiles);
  auto made =
      c.b.create<scf::ForOp>(loc, scalarOf(c, loop.getLowerBound()),
                             scalarOf(c, loop.getUpperBound()), scalarOf(c, loop.getStep()), inits);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(made.getBody());
  c.scalars[loop.getInductionVar()] = made.getInductionVar();
  c.rangeEnds[made.getInductionVar()] = made.getUpperBound();
  for (auto [argument, value] : llvm::zip(carriedArguments, made.getRegionIterArgs()))
    c.scalars[argument] = value;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto &[i, tile] : tiles) {
    // The variable lives in one buffer, so the yielded value is best computed directly into it.
    setTile(c, loop.getRegionIterArg(i), tile);
    c.wanted[yield.getOperand(i)] = tile.buffer;
  }
  // A variable that the other core reads is sent in each round.
  llvm::for_each(loop.getRegionIterArgs(), [&](Value argument) { cross(c, argument); });
  if (rotates)
    c.rotations.push_back({made, iterationOf(c, made), pipeline.getInt()});
  lowerBlock(c, *loop.getBody());
  if (rotates)
    c.rotations.pop_back();
  if (c.failed)
    return;
  keepAll(c, yield.getOperands(), tiles, loc);
  freeSlots(c, yield);
  yieldScalars(c, loop);
  c.b.setInsertionPointAfter(made);
  // Slots of rings are counted by rounds of this loop, so they are drained behind it.
  drainRings(c, loop);
  unsigned next = 0;
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    if (isScalar(c, result) && isNeeded(c, argument))
      c.scalars[result] = made.getResult(next++);
  for (auto &[i, tile] : tiles)
    setTile(c, loop.getResult(i), tile);
}

Value iterationOf(KernelContext &c, scf::ForOp loop) {
  Value done = matchPattern(loop.getLowerBound(), m_Zero())
                   ? loop.getInductionVar()
                   : c.b.create<arith::SubIOp>(c.loc, loop.getInductionVar(), loop.getLowerBound())
                         .getResult();
  return matchPattern(loop.getStep(), m_One())
             ? done
             : c.b.create<arith::DivUIOp>(c.loc, done, loop.getStep()).getResult();
}

/// The buffer of a tile that a loop carries, which holds the initial value.
static Tile carriedTile(KernelContext &c, scf::ForOp loop, unsigned index) {
  Value init = loop.getInitArgs()[index], argument = loop.getRegionIterArg(index);
  Tile tile;
  if (c.cores.isAccumulator(argument)) {
    // An inner loop continues with the accumulator of the loop around it.
    const Tile *outer = isa<BlockArgument>(init) ? tileOf(c, init) : nullptr;
    return outer ? *outer : accumulatorTile(c, loop, argument);
  }
  const Tile *first = tileOf(c, init);
  if (!first) {
    fail(c, loop, "a variable that begins with what another core computes");
    return tile;
  }
  tile = *first;
  // The initial value stays in its buffer if nothing else reads it: neither the loop, nor another
  // variable, nor the code behind.
  OpOperand &operand = loop.getInitArgsMutable()[index];
  if (first->buffer && first->buffer.getDefiningOp<pto::AllocTileOp>() &&
      c.sharing.mayOverwrite(first->buffer, loop, {operand.getOperandNumber()}))
    return tile;
  if (tile.form == Tile::Form::Splat || tile.form == Tile::Form::Memory)
    tile.form = formOf(tile);
  Tile source = *first;
  tile.buffer = allocateLike(c, tile, named(c, argument));
  if (source.form == Tile::Form::Splat)
    fillWith(c, tile, source.scalar, c.loc);
  else
    copy(c, materialise(c, source, c.loc), tile, c.loc);
  return tile;
}

/// Copies a value into the buffer that a loop carries or a branch yields into.
void keep(KernelContext &c, Value value, const Tile &into, Location loc) {
  if (c.core == CoreKind::Cube) // It accumulates in place.
    return;
  const Tile *tile = tileOf(c, value);
  if (!tile)
    return;
  if (tile->form == Tile::Form::Splat) {
    fillWith(c, into, tile->scalar, loc);
    return;
  }
  Tile source = materialise(c, *tile, loc);
  // It may have been computed in place.
  if (source.buffer != into.buffer)
    copy(c, source, into, loc);
}

/// Writes all values as if at the same time: a value whose buffer is overwritten before it is read
/// is copied to another buffer first.
void keepAll(KernelContext &c, ValueRange values, CarriedTiles tiles, Location loc) {
  llvm::SmallDenseSet<Value> written;
  llvm::SmallVector<std::pair<Value, Tile>> before; // where what goes aside lies else
  for (const auto &[i, into] : tiles) {
    const Tile *tile = c.core == CoreKind::Cube ? nullptr : tileOf(c, values[i]);
    if (tile && tile->buffer && tile->buffer != into.buffer &&
        written.contains(pto::rootOf(tile->buffer))) {
      Tile source = materialise(c, *tile, loc), aside = source;
      aside.buffer = allocateLike(c, source, loc);
      copy(c, source, aside, loc);
      before.push_back({values[i], *tile});
      setTile(c, values[i], aside);
    }
    written.insert(pto::rootOf(into.buffer));
  }
  for (const auto &[i, tile] : tiles)
    keep(c, values[i], tile, loc);
  for (const auto &[value, tile] : before)
    setTile(c, value, tile);
}

/// Names the lengths of a branch's results before it, because an arm may be the first code that has
/// them. The pure scalar operations that compute them are moved before the branch.
static void nameLengths(KernelContext &c, scf::IfOp branch) {
  auto isOutside = [&](Value value) {
    return !branch->isAncestor(value.getParentBlock()->getParentOp());
  };
  for (Region &arm : branch->getRegions())
    for (Operation &op : llvm::make_early_inc_range(arm.getOps())) {
      bool isScalarOp =
          op.getNumRegions() == 0 && op.getNumResults() == 1 && op.getResult(0).getType().isIndex();
      if (!isScalarOp || !isPure(&op) || !llvm::all_of(op.getOperands(), isOutside))
        continue;
      // A pure operation on operands from outside gives the same result before the branch.
      op.moveBefore(branch);
      lowerOp(c, &op);
    }
  for (Value result : branch.getResults())
    for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(result.getType()))) {
      if (extent.isConstant() || c.lengths.lookup(extent.symbol))
        continue;
      Value length = ir::findLength(result, static_cast<int64_t>(axis));
      if (length && isOutside(length))
        c.lengths[extent.symbol] = scalarOf(c, length);
    }
}

static void lowerIf(KernelContext &c, scf::IfOp branch) {
  Location loc = branch.getLoc();
  nameLengths(c, branch);
  llvm::SmallVector<Type> types;
  llvm::SmallVector<std::pair<unsigned, Tile>> tiles;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    if (isScalar(c, result)) {
      if (isNeeded(c, result))
        types.push_back(result.getType());
      continue;
    }
    if (c.core == CoreKind::Cube)
      continue;
    std::optional<Tile> tile = tileFor(c, branch, result.getType());
    if (!tile)
      return;
    // Both arms write to one buffer, which is allocated before them.
    tile->buffer = allocateLike(c, *tile, loc);
    tiles.emplace_back(static_cast<unsigned>(i), *tile);
  }
  auto made =
      c.b.create<scf::IfOp>(loc, types, scalarOf(c, branch.getCondition()), /*addThenBlock=*/true,
                            /*addElseBlock=*/!branch.getElseRegion().empty());
  // Lengths that one arm binds are defined neither in the other arm nor behind the branch.
  const auto known = c.lengths;
  for (unsigned arm = 0; arm < 2 && !branch->getRegion(arm).empty(); ++arm) {
    OpBuilder::InsertionGuard guard(c.b);
    c.lengths = known;
    Block &target = made->getRegion(arm).front();
    if (target.empty() || !target.back().hasTrait<OpTrait::IsTerminator>())
      c.b.setInsertionPointToEnd(&target);
    else
      c.b.setInsertionPoint(&target.back());
    Block &source = branch->getRegion(arm).front();
    lowerBlock(c, source);
    if (c.failed)
      return;
    for (auto &[i, tile] : tiles)
      keep(c, source.getTerminator()->getOperand(i), tile, loc);
    freeSlots(c, source.getTerminator());
    llvm::SmallVector<Value> yielded;
    for (auto [value, result] :
         llvm::zip(source.getTerminator()->getOperands(), branch.getResults()))
      if (isScalar(c, value) && isNeeded(c, result))
        yielded.push_back(scalarOf(c, value));
    if (target.empty() || !target.back().hasTrait<OpTrait::IsTerminator>())
      c.b.create<scf::YieldOp>(loc, yielded);
  }
  c.lengths = known;
  unsigned next = 0;
  for (Value result : branch.getResults())
    if (isScalar(c, result) && isNeeded(c, result))
      c.scalars[result] = made.getResult(next++);
  for (auto &[i, tile] : tiles)
    setTile(c, branch.getResult(i), tile);
}

// ---- scalars ------------------------------------------------------------------------------------

static bool lowerScalarOp(KernelContext &c, Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa<arith::ArithDialect>(dialect) || (dialect && dialect->getNamespace() == "math")) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value value = scalarOf(c, operand);
      if (!value)
        return false;
      mapping.map(operand, value);
    }
    Operation *copy = c.b.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      c.scalars[from] = to;
    return true;
  }
  Value result = lowerScalarArithmetic(c, op);
  if (result)
    c.scalars[op->getResult(0)] = result;
  return static_cast<bool>(result);
}

} // namespace ptl::block
