// Grids, loops, branches, and scalars.
#include "ir/dialect/schedule_attributes.h"
#include "passes/lower_block/cube_scalars.h"
#include "passes/lower_block/lower_manual.h"
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/meetings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

// Lengths that differ from point to point make the valid parts of tiles values; then those of all
// tiles are, since instructions want them alike.
static bool hasOpenLengths(ir::ParallelOp grid) {
  bool open = false;
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

/// What a length is at most, as far as its value says.
static int64_t boundOf(Value length) {
  IntegerAttr number;
  if (matchPattern(length, m_Constant(&number)))
    return number.getInt();
  auto least = length.getDefiningOp<arith::MinSIOp>();
  if (!least)
    return ir::Extent::kUnknown;
  int64_t a = boundOf(least.getLhs()), b = boundOf(least.getRhs());
  return a == ir::Extent::kUnknown || (b != ir::Extent::kUnknown && b < a) ? b : a;
}

/// The bounds of the lengths of a box, for types that name a length without one.
template <typename OpT>
static void addBounds(OpT box, llvm::DenseMap<StringAttr, int64_t> &capacities) {
  size_t kept = 0;
  llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(box.getResult().getType());
  for (auto [axis, length] : llvm::enumerate(box.getLengths())) {
    if (llvm::is_contained(box.getDropped(), static_cast<int64_t>(axis)))
      continue;
    const ir::Extent &extent = extents[kept++];
    int64_t bound = boundOf(length);
    if (extent.symbol && bound != ir::Extent::kUnknown)
      capacities.try_emplace(extent.symbol, bound);
  }
}

llvm::DenseMap<StringAttr, int64_t> capacitiesOf(ir::ParallelOp grid) {
  llvm::DenseMap<StringAttr, int64_t> capacities;
  grid.walk([&](Operation *op) {
    for (Value value : op->getResults())
      for (const ir::Extent &extent : ir::extentsOf(value.getType()))
        if (extent.symbol && extent.capacity != ir::Extent::kUnknown)
          capacities[extent.symbol] = extent.capacity;
  });
  grid.walk([&](Operation *op) {
    if (auto slice = dyn_cast<ir::SliceOp>(op))
      addBounds(slice, capacities);
    else if (auto load = dyn_cast<ir::LoadOp>(op))
      addBounds(load, capacities);
  });
  return capacities;
}

bool KernelLowering::lowerGrid(ir::ParallelOp grid) {
  dynamicValid_ = hasOpenLengths(grid);
  capacities_ = capacitiesOf(grid);
  findWideRows(grid);
  streamed_ = streamedOperands(grid, options_.streamed);
  if (core_ == CoreKind::Cube && cores_.isMixed())
    cubeScalars_ = scalarsOfCube(grid, cores_);
  Block *entry = &function_.getBody().front();
  b_.setInsertionPointToEnd(entry);
  if (core_ == CoreKind::Vector && cores_.isMixed()) {
    Value index = b_.create<pto::GetSubBlockIdxOp>(loc_, b_.getI64Type());
    subblock_ = b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), index);
    isFirst_ = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::eq, subblock_, constant(0));
  }
  openQueues(grid);
  lowerPoints(grid);
  b_.setInsertionPointToEnd(entry);
  b_.create<func::ReturnOp>(loc_);
  if (isFirst_ && isFirst_.use_empty()) // who is asked who it is, without need
    isFirst_.getDefiningOp()->erase();
  if (subblock_ && subblock_.use_empty()) {
    Operation *cast = subblock_.getDefiningOp(), *index = cast->getOperand(0).getDefiningOp();
    cast->erase();
    index->erase();
  }
  return !failed_;
}

// The points are numbered, and core group g of n takes the points g, g + n, …
void KernelLowering::lowerPoints(ir::ParallelOp grid) {
  loc_ = grid.getLoc();
  auto index = [&](Value id) { return b_.create<arith::IndexCastOp>(loc_, b_.getIndexType(), id); };
  Value group = index(b_.create<pto::GetBlockIdxOp>(loc_, b_.getI64Type()));
  Value groups = index(b_.create<pto::GetBlockNumOp>(loc_, b_.getI64Type()));
  size_t rank = grid.getLower().size();
  llvm::SmallVector<Value> lower, step, count;
  Value total = constant(1);
  for (size_t i = 0; i < rank; ++i) {
    lower.push_back(scalarOf(grid.getLower()[i]));
    step.push_back(scalarOf(grid.getSteps()[i]));
    Value length = b_.createOrFold<arith::SubIOp>(loc_, scalarOf(grid.getUpper()[i]), lower[i]);
    count.push_back(matchPattern(step[i], m_One())
                        ? length
                        : b_.createOrFold<arith::CeilDivSIOp>(loc_, length, step[i]));
    total = i == 0 ? count[0] : b_.createOrFold<arith::MulIOp>(loc_, total, count[i]);
  }
  Value first = group;
  if (auto cores = grid->getAttrOfType<IntegerAttr>(ir::kCoresAttribute)) {
    // others have nothing to do
    groups = minimum(groups, constant(cores.getInt()));
    Value works = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, group, groups);
    first = b_.create<arith::SelectOp>(loc_, works, group, total);
  }
  auto loop = b_.create<scf::ForOp>(loc_, first, total, groups);
  gridLoop_ = loop;
  b_.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  for (size_t i = rank; i-- > 0;) {
    Value number = i == 0 ? rest : b_.create<arith::RemUIOp>(loc_, rest, count[i]);
    if (i > 0)
      rest = b_.create<arith::DivUIOp>(loc_, rest, count[i]);
    Value offset = matchPattern(step[i], m_One())
                       ? number
                       : b_.createOrFold<arith::MulIOp>(loc_, number, step[i]);
    scalars_[grid.getBody().getArgument(static_cast<unsigned>(i))] =
        matchPattern(lower[i], m_Zero()) ? offset
                                         : b_.createOrFold<arith::AddIOp>(loc_, lower[i], offset);
  }
  if (options_.gridBuffers > 1) {
    Value done = b_.create<arith::SubIOp>(loc_, loop.getInductionVar(), group);
    rotations_.push_back(
        {loop, b_.create<arith::DivUIOp>(loc_, done, groups), options_.gridBuffers});
  }
  lowerBlock(grid.getBody().front());
  if (options_.gridBuffers > 1)
    rotations_.pop_back();
}

void KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (failed_)
      return;
    loc_ = op.getLoc();
    popFor(&op);
    if (cores_.meetings.contains(&op))
      meet(loc_);
    // What a region says of lengths anew are no values behind it.
    auto known = op.getNumRegions() ? lengths_ : decltype(lengths_)();
    lowerOp(&op);
    for (auto [symbol, length] : known)
      lengths_[symbol] = length;
    for (Value result : op.getResults())
      cross(result);
    if (!failed_ && !popped_.empty())
      freeSlots(&op);
  }
  if (failed_)
    return;
  Operation *end = block.getTerminator();
  popFor(end);
  // What the block hands on is copied first, by who lowers what the block is of.
  if (llvm::all_of(end->getOperands(), [&](Value value) { return isScalar(value); }))
    freeSlots(end);
}

/// A grid inside a grid: its points follow each other on the core that has the outer point.
void KernelLowering::lowerNestedGrid(ir::ParallelOp grid) {
  OpBuilder::InsertionGuard guard(b_);
  for (size_t i = 0; i < grid.getLower().size(); ++i) {
    auto loop = b_.create<scf::ForOp>(loc_, scalarOf(grid.getLower()[i]),
                                      scalarOf(grid.getUpper()[i]), scalarOf(grid.getSteps()[i]));
    scalars_[grid.getBody().getArgument(static_cast<unsigned>(i))] = loop.getInductionVar();
    b_.setInsertionPointToStart(loop.getBody());
  }
  lowerBlock(grid.getBody().front());
}

void KernelLowering::lowerOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(loop);
  if (auto grid = dyn_cast<ir::ParallelOp>(op))
    return lowerNestedGrid(grid);
  if (auto check = dyn_cast<ir::CheckOp>(op))
    return lowerCheck(check);
  if (isa<ir::PrintOp>(op))
    return lowerPrint(op);
  if (isa<ir::SliceOp, ir::LoadOp>(op))
    return lowerSlice(op);
  if (auto store = dyn_cast<ir::StoreOp>(op)) {
    bool onCube = cores_.coreOf(op) == CoreKind::Cube;
    if (onCube == (core_ == CoreKind::Cube))
      lowerStore(store);
    return;
  }
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto type = dim.getSource().getType();
    const ir::Extent &extent = ir::extentsOf(type)[dim.getAxis()];
    scalars_[dim.getResult()] = lengthOf(extent);
    return;
  }
  bool touchesTiles = llvm::any_of(op->getOperands(), [&](Value v) { return !isScalar(v); }) ||
                      llvm::any_of(op->getResults(), [&](Value v) { return !isScalar(v); });
  if (!touchesTiles) {
    if (llvm::any_of(op->getResults(), [&](Value v) { return isNeeded(v); }) && !lowerScalarOp(op))
      fail(op, core_ == CoreKind::Cube && cores_.isMixed()
                   ? "a number that the vector cores compute and the cube core needs"
                   : "`" + op->getName().stripDialect().str() + "` of scalars");
    return;
  }
  if (core_ == CoreKind::Cube) {
    if (cores_.coreOf(op) == CoreKind::Cube)
      lowerCube(op);
    else if (!lowerShared(op))
      bindLengths(op);
    return;
  }
  if (cores_.coreOf(op) == CoreKind::Cube)
    return;
  if (!lowerVector(op))
    fail(op, "`" + op->getName().stripDialect().str() + "`");
}

// ---- loops
// ------------------------------------------------------------------------------------------------

/// Whether this core keeps what a loop or a branch carries.
bool KernelLowering::carries(Value value) const {
  if (isScalar(value))
    return true;
  return cores_.isAccumulator(value) == (core_ == CoreKind::Cube);
}

void KernelLowering::lowerFor(scf::ForOp loop) {
  Location loc = loop.getLoc();
  llvm::SmallVector<Value> inits, carriedArguments;
  llvm::SmallVector<std::pair<unsigned, Tile>> tiles;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    Value argument = loop.getRegionIterArg(static_cast<unsigned>(i));
    if (isScalar(init)) {
      if (!isNeeded(argument))
        continue;
      inits.push_back(scalarOf(init));
      carriedArguments.push_back(argument);
    } else if (carries(argument)) {
      tiles.emplace_back(static_cast<unsigned>(i), carriedTile(loop, static_cast<unsigned>(i)));
    }
    if (failed_)
      return;
  }
  if (failed_)
    return;
  auto pipeline = loop->getAttrOfType<IntegerAttr>("ptl.pipeline");
  bool rotates = pipeline && pipeline.getInt() > 1;
  // In queues that several values share, their order is that of the program.
  if (rotates && turnsAhead() > 0 && !sharesQueues(cores_, machine_) && !meetsInside(loop, cores_))
    if (auto stages = stagesOf(loop, cores_, core_); stages && stages->isSplit())
      return lowerInStages(loop, *stages, tiles);
  auto made =
      b_.create<scf::ForOp>(loc, scalarOf(loop.getLowerBound()), scalarOf(loop.getUpperBound()),
                            scalarOf(loop.getStep()), inits);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(made.getBody());
  scalars_[loop.getInductionVar()] = made.getInductionVar();
  for (auto [argument, value] : llvm::zip(carriedArguments, made.getRegionIterArgs()))
    scalars_[argument] = value;
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto &[i, tile] : tiles) {
    setTile(loop.getRegionIterArg(i), tile);
    wanted_[yield.getOperand(i)] = tile.buffer;
  }
  llvm::for_each(loop.getRegionIterArgs(), [&](Value argument) { cross(argument); });
  if (rotates)
    rotations_.push_back({made, iterationOf(made), pipeline.getInt()});
  lowerBlock(*loop.getBody());
  if (rotates)
    rotations_.pop_back();
  if (failed_)
    return;
  keepAll(yield.getOperands(), tiles, loc);
  freeSlots(yield);
  llvm::SmallVector<Value> yielded;
  for (auto [value, argument] : llvm::zip(yield.getOperands(), loop.getRegionIterArgs()))
    if (isScalar(value) && isNeeded(argument))
      yielded.push_back(scalarOf(value));
  if (!yielded.empty())
    b_.create<scf::YieldOp>(loc, yielded);
  b_.setInsertionPointAfter(made);
  unsigned next = 0;
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    if (isScalar(result) && isNeeded(argument))
      scalars_[result] = made.getResult(next++);
  for (auto &[i, tile] : tiles)
    setTile(loop.getResult(i), tile);
}

Value KernelLowering::iterationOf(scf::ForOp loop) {
  Value done = matchPattern(loop.getLowerBound(), m_Zero())
                   ? loop.getInductionVar()
                   : b_.create<arith::SubIOp>(loc_, loop.getInductionVar(), loop.getLowerBound())
                         .getResult();
  return matchPattern(loop.getStep(), m_One())
             ? done
             : b_.create<arith::DivUIOp>(loc_, done, loop.getStep()).getResult();
}

/// The buffer of a tile that a loop carries, with the first value in it.
Tile KernelLowering::carriedTile(scf::ForOp loop, unsigned index) {
  Value init = loop.getInitArgs()[index], argument = loop.getRegionIterArg(index);
  Tile tile;
  if (cores_.isAccumulator(argument))
    return accumulatorTile(loop, argument);
  const Tile *first = tileOf(init);
  if (!first) {
    fail(loop, "a variable that begins with what another core computes");
    return tile;
  }
  tile = *first;
  // The value that it begins with stays where it is if nobody else reads it: neither the loop, nor
  // another variable, nor what comes behind.
  OpOperand &operand = loop.getInitArgsMutable()[index];
  if (first->buffer && first->buffer.getDefiningOp<pto::AllocTileOp>() &&
      sharing_.mayOverwrite(first->buffer, loop, {operand.getOperandNumber()}))
    return tile;
  if (tile.form == Tile::Form::Splat || tile.form == Tile::Form::Memory)
    tile.form = formOf(tile);
  Tile source = *first;
  tile.buffer = allocateLike(tile, named(argument));
  if (source.form == Tile::Form::Splat)
    fillWith(tile, source.scalar, loc_);
  else
    copy(materialise(source, loc_), tile, loc_);
  return tile;
}

/// Brings a value into the buffer that a loop carries or a branch leaves.
void KernelLowering::keep(Value value, const Tile &into, Location loc) {
  if (core_ == CoreKind::Cube) // what it carries is accumulated where it is
    return;
  const Tile *tile = tileOf(value);
  if (!tile)
    return;
  if (tile->form == Tile::Form::Splat) {
    fillWith(into, tile->scalar, loc);
    return;
  }
  Tile source = materialise(*tile, loc);
  if (source.buffer != into.buffer)
    copy(source, into, loc);
}

/// As if at once: what is kept in a buffer that is written before is copied aside.
void KernelLowering::keepAll(ValueRange values, CarriedTiles tiles, Location loc) {
  llvm::SmallDenseSet<Value> written;
  for (const auto &[i, into] : tiles) {
    const Tile *tile = core_ == CoreKind::Cube ? nullptr : tileOf(values[i]);
    if (tile && tile->buffer && tile->buffer != into.buffer &&
        written.contains(pto::rootOf(tile->buffer))) {
      Tile source = materialise(*tile, loc), aside = source;
      aside.buffer = allocateLike(source, loc);
      copy(source, aside, loc);
      setTile(values[i], aside);
    }
    written.insert(pto::rootOf(into.buffer));
  }
  for (const auto &[i, tile] : tiles)
    keep(values[i], tile, loc);
}

void KernelLowering::lowerIf(scf::IfOp branch) {
  Location loc = branch.getLoc();
  llvm::SmallVector<Type> types;
  llvm::SmallVector<std::pair<unsigned, Tile>> tiles;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    if (isScalar(result)) {
      if (isNeeded(result))
        types.push_back(result.getType());
      continue;
    }
    if (core_ == CoreKind::Cube)
      continue;
    std::optional<Extents2> extents = extentsOf(branch, result.getType());
    if (!extents)
      return;
    Tile tile;
    tile.extents = *extents;
    tile.element = ir::elementTypeOf(result.getType());
    tile.form = formOf(tile);
    tile.buffer = allocateLike(tile, loc);
    tiles.emplace_back(static_cast<unsigned>(i), tile);
  }
  auto made =
      b_.create<scf::IfOp>(loc, types, scalarOf(branch.getCondition()), /*addThenBlock=*/true,
                           /*addElseBlock=*/!branch.getElseRegion().empty());
  for (unsigned arm = 0; arm < 2 && !branch->getRegion(arm).empty(); ++arm) {
    OpBuilder::InsertionGuard guard(b_);
    Block &target = made->getRegion(arm).front();
    if (target.empty() || !target.back().hasTrait<OpTrait::IsTerminator>())
      b_.setInsertionPointToEnd(&target);
    else
      b_.setInsertionPoint(&target.back());
    Block &source = branch->getRegion(arm).front();
    lowerBlock(source);
    if (failed_)
      return;
    for (auto &[i, tile] : tiles)
      keep(source.getTerminator()->getOperand(i), tile, loc);
    freeSlots(source.getTerminator());
    llvm::SmallVector<Value> yielded;
    for (auto [value, result] :
         llvm::zip(source.getTerminator()->getOperands(), branch.getResults()))
      if (isScalar(value) && isNeeded(result))
        yielded.push_back(scalarOf(value));
    if (target.empty() || !target.back().hasTrait<OpTrait::IsTerminator>())
      b_.create<scf::YieldOp>(loc, yielded);
  }
  unsigned next = 0;
  for (Value result : branch.getResults())
    if (isScalar(result) && isNeeded(result))
      scalars_[result] = made.getResult(next++);
  for (auto &[i, tile] : tiles)
    setTile(branch.getResult(i), tile);
}

// ---- scalars
// ----------------------------------------------------------------------------------------------

bool KernelLowering::lowerScalarOp(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa<arith::ArithDialect>(dialect) || (dialect && dialect->getNamespace() == "math")) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value value = scalarOf(operand);
      if (!value)
        return false;
      mapping.map(operand, value);
    }
    Operation *copy = b_.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      scalars_[from] = to;
    return true;
  }
  Value result = lowerScalarArithmetic(op);
  if (result)
    scalars_[op->getResult(0)] = result;
  return static_cast<bool>(result);
}

} // namespace ptl::block
