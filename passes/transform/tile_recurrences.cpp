#include "passes/transform/tile_recurrences.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/kept_axis.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/loop_lanes.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/round_blocks.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ptl::ir {

/// Fewer columns than this do not fill a vector instruction.
static constexpr int64_t kFewestColumns = 64;
/// Rows of a tile begin at multiples of this many, so that what has an element for each row is loaded in whole blocks.
static constexpr int64_t kFewestRows = 8;
/// The columns of a tile with rows that are lanes, too: more rows are better than longer ones, as they are loaded at once.
static constexpr int64_t kColumnsBesideRows = 256;

namespace {

/// The part of a lane that one tile executes.
struct LanePart {
  Value whole, step;      ///< the length of the lane, and of most tiles
  int64_t most = 1;       ///< bound of `step`
  Value position, length; ///< of the tile
  Extent extent;
};

class RecurrenceGrid {
public:
  RecurrenceGrid(scf::ForOp loop, LoopLanes lanes, const RecurrenceTiles &tiles, unsigned &number)
      : loop_(loop), lanes_(std::move(lanes)), tiles_(tiles), number_(number), b_(loop),
        loc_(loop.getLoc()) {}

  bool match() const;
  void rewrite();

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value ceilDiv(Value number, Value by);
  /// How many elements along lanes a tile has room for, if the axes that it has whole are as long as they may be.
  int64_t elementsOfLanes() const { return tiles_.elements / lanes_.elementsBeside(tiles_.held); }
  int64_t roundsOfBlocks();
  bool writesApart(Operation *store);
  bool areRoundsApart();
  void addRounds(llvm::SmallVector<Value> &upper, llvm::SmallVector<Value> &steps, int64_t rounds);
  void findParts();
  void chooseSteps(int64_t rounds);
  void openTiles(int64_t rounds);
  Type tileType(Value value) const;
  Value tileOf(Value value);
  Value fill(Operation *like, IRMapping &map);
  template <typename BoxOp> void narrowBox(BoxOp box, const AxisMap &map);
  void cloneBox(Operation *made, Operation *op);
  void clone(Operation &op, IRMapping &map);
  void cloneBlock(Block &block, IRMapping &map);
  scf::ForOp cloneLoop(scf::ForOp loop, IRMapping &map);
  void cloneBranch(scf::IfOp branch, IRMapping &map);
  void mapOutside(IRMapping &map);
  Value heldFit();
  void limitRounds(scf::ForOp made);
  void emitGrid(llvm::ArrayRef<Value> storages, int64_t rounds);
  void emitByWidth(llvm::ArrayRef<Value> storages);
  void moveLoop(Block &block, llvm::ArrayRef<Value> storages);
  void storeTile(Value tile, Value ref, const AxisMap &map);

  scf::ForOp loop_;
  LoopLanes lanes_;
  RecurrenceTiles tiles_;
  unsigned &number_;
  OpBuilder b_;
  Location loc_;
  llvm::SmallVector<LanePart, 2> parts_;
  bool areApart_ = false;           ///< the grid goes along the rounds, too
  bool hasColumns_ = false;         ///< rounds have columns of arrays
  Value beginRound_, stepOfRounds_; ///< of a point of the grid, from 0; how many it has
};
} // namespace

bool RecurrenceGrid::match() const {
  // Lanes of fewer than 8 positions, beside what each tile holds whole, leave hardly anything to do in parallel: the loop stays as
  // it is then.
  return (lanes_.isRecurrence() || !tiles_.needsRecurrence) && elementsOfLanes() >= 8 &&
         lanes_.rank() <= tiles_.rank;
}

// Lengths are not negative, and the unsigned division lowers to fewer operations than the signed one.
Value RecurrenceGrid::ceilDiv(Value number, Value by) {
  return b_.createOrFold<arith::CeilDivUIOp>(loc_, number, by);
}

/// The lengths of lanes and of what tiles have whole.
void RecurrenceGrid::findParts() {
  parts_.resize(lanes_.count() + lanes_.heldCount());
  for (auto [lane, part] : llvm::enumerate(parts_)) {
    const LoopLanes::Length &length = lanes_.lengthOf(lane);
    part.whole = length.array ? ir::lengthOf(b_, length.array, length.axis) : length.number;
  }
}

/// The last lane gives the columns of a tile, the one before it the rows; of all others a tile has one position. Steps depend on
/// lengths at run time, so that there are as many tiles as cores where lengths allow it.
void RecurrenceGrid::chooseSteps(int64_t rounds) {
  for (LanePart &part : parts_) {
    part.most = 1;
    part.step = constant(1);
  }
  // A power of two, so that whole units and rows of columns divide it.
  auto most =
      static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(elementsOfLanes() / rounds)));
  auto choose = [&](LanePart &part, Value positions, int64_t unit) {
    if (part.most == 1)
      return;
    // As many tiles as cores, in whole units: but a tile must fit on chip, which bounds its step.
    Value even = ceilDiv(ceilDiv(positions, constant(tiles_.grids)), constant(unit));
    even = b_.createOrFold<arith::MulIOp>(loc_, even, constant(unit));
    even = b_.createOrFold<arith::MaxSIOp>(loc_, even, constant(unit));
    part.step = b_.createOrFold<arith::MinSIOp>(loc_, even, constant(part.most));
  };
  llvm::MutableArrayRef<LanePart> lanes = llvm::MutableArrayRef(parts_).take_front(lanes_.count());
  LanePart &columns = lanes.back();
  if (lanes.size() == 1) {
    // Where the lane numbers the rows of a matrix, the columns beside it fill the vectors, and the lane only needs whole blocks of rows.
    bool isRow = (hasColumns_ || lanes_.elementsBeside(tiles_.held) > 1) && !lanes_.isInRows(0);
    columns.most = most;
    return choose(columns, columns.whole, std::min(most, isRow ? kFewestRows : kFewestColumns));
  }
  LanePart &rows = lanes[lanes.size() - 2];
  columns.most = std::min(most, kColumnsBesideRows);
  columns.step = constant(columns.most);
  rows.most = most / columns.most;
  // The grid has a tile for each step of each lane, so the other lanes take part in the share of a core: with many of them, tiles
  // may have more rows.
  Value positions = rows.whole;
  for (LanePart &part : lanes)
    if (&part != &rows)
      positions = b_.createOrFold<arith::MulIOp>(loc_, positions, ceilDiv(part.whole, part.step));
  choose(rows, positions, 1);
}

/// Whether each round of the loop stores to other elements than all others.
bool RecurrenceGrid::writesApart(Operation *op) {
  auto store = cast<StoreOp>(op);
  // A store by position, or one that combines, may reach elements that another round reaches, too.
  if (store.getIndex() || store.getAtomic())
    return false;
  // One position of an axis, which moves by one from round to round, belongs to one round alone. Nothing else in the loop may reach the
  // storage, since that might read what another round has written.
  for (auto [offset, length] : llvm::zip(store.getOffsets(), store.getLengths()))
    if (getConstantIntValue(length) == 1 && goesWithRounds(loop_, offset))
      return llvm::all_of(store.getRef().getUsers(), [&](Operation *user) {
        return user == op || isa<DimOp>(user) || !loop_->isAncestor(user);
      });
  return false;
}

/// Whether the rounds of the loop itself do not need each other, whatever those of loops in it do.
bool RecurrenceGrid::areRoundsApart() {
  // Rounds that hand on a value need each other. The number of a round is counted as a distance of the loop's variable, which takes
  // steps of 1.
  std::optional<int64_t> step = getConstantIntValue(loop_.getStep());
  if (!tiles_.isBounded || step != 1 || !loop_.getInitArgs().empty())
    return false;
  hoistPositions(loop_);
  return !loop_
              .walk([&](StoreOp store) {
                return writesApart(store) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// As many tiles of rounds as give all cores work, where those of lanes are too few.
void RecurrenceGrid::addRounds(llvm::SmallVector<Value> &upper, llvm::SmallVector<Value> &steps,
                               int64_t rounds) {
  Value tiles = constant(1);
  for (const LanePart &part : llvm::ArrayRef(parts_).take_front(lanes_.count()))
    tiles = b_.createOrFold<arith::MulIOp>(loc_, tiles, ceilDiv(part.whole, part.step));
  tiles = b_.createOrFold<arith::MaxSIOp>(loc_, tiles, constant(1));
  Value all = b_.createOrFold<arith::SubIOp>(loc_, loop_.getUpperBound(), loop_.getLowerBound());
  all = b_.createOrFold<arith::MaxSIOp>(loc_, all, constant(0));
  Value each = ceilDiv(all, ceilDiv(constant(tiles_.grids), tiles));
  // Each point has whole blocks of rounds, so that only the last block of all may be shorter. The blocks may be those of loops inside.
  int64_t block = hasRowsOfRounds(loop_) ? rounds : 1;
  each = b_.createOrFold<arith::MulIOp>(loc_, ceilDiv(each, constant(block)), constant(block));
  stepOfRounds_ = b_.createOrFold<arith::MaxSIOp>(loc_, each, constant(block));
  upper.push_back(all);
  steps.push_back(stepOfRounds_);
}

/// The rounds of a point of the grid.
void RecurrenceGrid::limitRounds(scf::ForOp made) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(made);
  Value begin = b_.createOrFold<arith::AddIOp>(loc_, made.getLowerBound(), beginRound_);
  Value end = b_.createOrFold<arith::AddIOp>(loc_, begin, stepOfRounds_);
  end = b_.createOrFold<arith::MinSIOp>(loc_, end, made.getUpperBound());
  made.setLowerBound(begin);
  made.setUpperBound(end);
}

void RecurrenceGrid::openTiles(int64_t rounds) {
  llvm::SmallVector<Value> upper, steps;
  if (areApart_)
    addRounds(upper, steps, rounds);
  for (const LanePart &part : llvm::ArrayRef(parts_).take_front(lanes_.count())) {
    upper.push_back(part.whole);
    steps.push_back(part.step);
  }
  ParallelOp grid = openGrid(b_, loc_, upper, steps, block::withoutName(loc_));
  // The axis of rounds, if there is one, comes before those of lanes.
  auto first = static_cast<unsigned>(upper.size() - lanes_.count());
  if (areApart_)
    beginRound_ = grid.getBody().getArgument(0);
  for (auto [lane, part] : llvm::enumerate(parts_)) {
    bool isHeld = lane >= lanes_.count();
    if (isHeld) {
      part.most = tiles_.isBounded ? tiles_.held : Extent::kUnknown;
      part.position = constant(0);
      // The branch around the grid makes sure that this is all of it.
      part.length = tiles_.isBounded
                        ? b_.createOrFold<arith::MinSIOp>(loc_, part.whole, constant(tiles_.held))
                        : part.whole;
    } else {
      part.position = grid.getBody().getArgument(first + static_cast<unsigned>(lane));
      Value rest = b_.createOrFold<arith::SubIOp>(loc_, part.whole, part.position);
      part.length =
          part.most == 1 ? constant(1) : b_.createOrFold<arith::MinSIOp>(loc_, rest, part.step);
    }
    // Equal names stand for equal lengths, so every lane of every grid has a name of its own.
    std::string name = "r" + std::to_string(number_) + "." + std::to_string(lane);
    part.extent =
        part.most == 1 ? Extent::constant(1) : Extent::named(b_.getStringAttr(name), part.most);
  }
}

Type RecurrenceGrid::tileType(Value value) const {
  Type type = value.getType();
  for (auto [axis, lane] : llvm::enumerate(lanes_.mapOf(value)))
    if (lane != kWhole)
      type = withExtent(type, axis, parts_[static_cast<size_t>(lane)].extent);
  return type;
}

/// An array of one element everywhere, with the lengths of a tile.
Value RecurrenceGrid::fill(Operation *like, IRMapping &map) {
  Value result = like->getResult(0);
  OperationState state(like->getLoc(), like->getName());
  state.addAttributes(like->getAttrs());
  state.addTypes(tileType(result));
  AxisMap lanes = lanes_.mapOf(result);
  // The operands are the lengths of the extents that are no constants, in order; behind them comes the value of `full`.
  unsigned next = 0;
  for (auto [extent, lane] : llvm::zip(extentsOf(result.getType()), lanes)) {
    Value length = extent.isConstant() ? Value() : map.lookupOrDefault(like->getOperand(next++));
    if (lane != kWhole)
      length = parts_[static_cast<size_t>(lane)].extent.isConstant()
                   ? Value()
                   : parts_[static_cast<size_t>(lane)].length;
    if (length)
      state.addOperands(length);
  }
  for (Value operand : like->getOperands().drop_front(next))
    state.addOperands(map.lookupOrDefault(operand));
  return b_.create(state)->getResult(0);
}

static bool isUniform(Operation *op) { return op && isa<ZerosOp, OnesOp, FullOp>(op); }

/// The tile of a value from outside.
Value RecurrenceGrid::tileOf(Value value) {
  AxisMap map = lanes_.mapOf(value);
  if (llvm::all_of(map, [](int64_t lane) { return lane == kWhole; }))
    return value;
  // A slice of an array with one element everywhere would first need the array in memory.
  if (Operation *made = value.getDefiningOp(); isUniform(made)) {
    IRMapping same;
    return fill(made, same);
  }
  llvm::SmallVector<Value> offsets, lengths;
  for (auto [axis, lane] : llvm::enumerate(map)) {
    const LanePart *part = lane == kWhole ? nullptr : &parts_[static_cast<size_t>(lane)];
    offsets.push_back(part ? part->position : constant(0));
    lengths.push_back(part ? part->length : ir::lengthOf(b_, value, static_cast<int64_t>(axis)));
  }
  return b_.create<SliceOp>(value.getLoc(), tileType(value), value, offsets, lengths, ValueRange(),
                            Value(), b_.getDenseI64ArrayAttr({}));
}

/// `map` has the lanes of the kept axes of a box.
template <typename BoxOp> void RecurrenceGrid::narrowBox(BoxOp box, const AxisMap &map) {
  auto rank = static_cast<int64_t>(box.getOffsets().size());
  for (auto [axis, lane] : llvm::enumerate(map)) {
    if (lane == kWhole)
      continue;
    const LanePart &part = parts_[static_cast<size_t>(lane)];
    auto own = static_cast<size_t>(keptAxis(box.getDropped(), rank, static_cast<int64_t>(axis)));
    // The position counts elements of the box, which may lie some steps apart in what it is a box of.
    Value shift = part.position;
    if (!box.getSteps().empty())
      shift = b_.createOrFold<arith::MulIOp>(loc_, shift, box.getSteps()[own]);
    Value offset = b_.createOrFold<arith::AddIOp>(loc_, box.getOffsets()[own], shift);
    box.getOffsetsMutable()[own].set(offset);
    box.getLengthsMutable()[own].set(part.length);
  }
}

/// A box of what is outside moves to the tile's positions. One of what the loop computes has all of the tile already.
void RecurrenceGrid::cloneBox(Operation *made, Operation *op) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(made);
  if (auto store = dyn_cast<StoreOp>(made)) {
    AxisMap kept;
    for (auto [axis, lane] : llvm::enumerate(lanes_.mapOf(cast<StoreOp>(op).getRef())))
      if (!llvm::is_contained(store.getDropped(), static_cast<int64_t>(axis)))
        kept.push_back(lane);
    return narrowBox(store, kept);
  }
  AxisMap map = lanes_.mapOf(op->getResult(0));
  if (auto load = dyn_cast<LoadOp>(made))
    return narrowBox(load, map);
  auto slice = cast<SliceOp>(made);
  if (lanes_.isOutside(cast<SliceOp>(op).getSource()))
    return narrowBox(slice, map);
  for (auto [axis, lane] : llvm::enumerate(map))
    if (lane != kWhole) {
      int64_t own = keptAxis(slice.getDropped(), static_cast<int64_t>(slice.getOffsets().size()),
                             static_cast<int64_t>(axis));
      slice.getLengthsMutable()[static_cast<size_t>(own)].set(
          parts_[static_cast<size_t>(lane)].length);
    }
}

scf::ForOp RecurrenceGrid::cloneLoop(scf::ForOp loop, IRMapping &map) {
  llvm::SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(map.lookupOrDefault(init));
  auto made = b_.create<scf::ForOp>(loop.getLoc(), map.lookupOrDefault(loop.getLowerBound()),
                                    map.lookupOrDefault(loop.getUpperBound()),
                                    map.lookupOrDefault(loop.getStep()), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  map.map(loop.getInductionVar(), made.getInductionVar());
  map.map(loop.getRegionIterArgs(), made.getRegionIterArgs());
  map.map(loop.getResults(), made.getResults());
  OpBuilder::InsertionGuard guard(b_);
  // A loop that carries nothing is created with its terminator; the body that is cloned brings its own.
  if (inits.empty())
    made.getBody()->getTerminator()->erase();
  b_.setInsertionPointToStart(made.getBody());
  cloneBlock(*loop.getBody(), map);
  return made;
}

void RecurrenceGrid::cloneBranch(scf::IfOp branch, IRMapping &map) {
  llvm::SmallVector<Type> types;
  for (Value result : branch.getResults())
    types.push_back(tileType(result));
  auto made =
      b_.create<scf::IfOp>(branch.getLoc(), types, map.lookupOrDefault(branch.getCondition()),
                           /*addThenBlock=*/false, /*addElseBlock=*/false);
  made->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  map.map(branch.getResults(), made.getResults());
  for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions()))
    if (!from.empty()) {
      OpBuilder::InsertionGuard guard(b_);
      b_.createBlock(&to);
      cloneBlock(from.front(), map);
    }
}

void RecurrenceGrid::clone(Operation &op, IRMapping &map) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return void(cloneLoop(loop, map));
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return cloneBranch(branch, map);
  if (isUniform(&op))
    return map.map(op.getResult(0), fill(&op, map));
  Operation *made = b_.clone(op, map);
  // The clone has the types of whole arrays until here; what is cloned after it reads them from its operands.
  for (auto [result, own] : llvm::zip(op.getResults(), made->getResults()))
    if (isa<ArrayType>(result.getType()))
      own.setType(tileType(result));
  if (isa<StoreOp, LoadOp, SliceOp>(op))
    cloneBox(made, &op);
}

void RecurrenceGrid::cloneBlock(Block &block, IRMapping &map) {
  for (Operation &op : block)
    clone(op, map);
}

/// Whole arrays from outside that the loop uses in another way than by boxes.
void RecurrenceGrid::mapOutside(IRMapping &map) {
  // A slice reads the array outside at the positions of the tile by itself, and a length is asked of the whole array.
  loop_->walk([&](Operation *op) {
    if (isa<SliceOp, DimOp>(op))
      return;
    for (Value operand : op->getOperands())
      if (isa<ArrayType>(operand.getType()) && !map.contains(operand) && lanes_.isOutside(operand))
        map.map(operand, tileOf(operand));
  });
}

void RecurrenceGrid::storeTile(Value tile, Value ref, const AxisMap &map) {
  llvm::SmallVector<Value> offsets, lengths;
  for (auto [axis, lane] : llvm::enumerate(map)) {
    const LanePart *part = lane == kWhole ? nullptr : &parts_[static_cast<size_t>(lane)];
    offsets.push_back(part ? part->position : constant(0));
    lengths.push_back(part ? part->length : ir::lengthOf(b_, ref, static_cast<int64_t>(axis)));
  }
  b_.create<StoreOp>(loc_, tile, ref, offsets, lengths, ValueRange(), Value(),
                     b_.getDenseI64ArrayAttr({}), IntegerAttr(), StringAttr());
}

/// Whether the axes that tiles have whole fit into them; null if they always do.
Value RecurrenceGrid::heldFit() {
  Value fit;
  if (!tiles_.isBounded)
    return fit;
  for (const LanePart &part : llvm::ArrayRef(parts_).drop_front(lanes_.count())) {
    Value own = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, part.whole,
                                               constant(tiles_.held));
    fit = fit ? b_.createOrFold<arith::AndIOp>(loc_, fit, own) : own;
  }
  return fit;
}

/// With `rounds` above 1, tiles have as many rounds of what they read and write.
void RecurrenceGrid::emitGrid(llvm::ArrayRef<Value> storages, int64_t rounds) {
  OpBuilder::InsertionGuard guard(b_);
  chooseSteps(rounds);
  openTiles(rounds);
  ++number_;
  IRMapping map;
  mapOutside(map);
  scf::ForOp made = cloneLoop(loop_, map);
  if (areApart_)
    limitRounds(made);
  for (auto [i, ref] : llvm::enumerate(storages))
    if (ref)
      storeTile(made.getResult(static_cast<unsigned>(i)), ref,
                lanes_.mapOf(loop_.getResult(static_cast<unsigned>(i))));
  b_.create<YieldOp>(loc_);
  if (rounds > 1)
    blockRounds(made, rounds, number_);
}

/// How many rounds are loaded and stored at once. Rows are short if a transfer takes no longer than the latency of memory;
/// a column costs as much as its rows, of which the rounds of a block have a part that lies side by side.
int64_t RecurrenceGrid::roundsOfBlocks() {
  if (tiles_.rounds == 1 || lanes_.count() != 1 || lanes_.elementsBeside(tiles_.held) != 1)
    return 1;
  std::optional<bool> rows = rowsOfRounds(loop_);
  hasColumns_ = rows.value_or(false);
  int64_t rounds = hasColumns_ ? tiles_.columns : tiles_.rounds;
  return rows && elementsOfLanes() >= rounds * kFewestColumns ? rounds : 1;
}

/// Rounds come in blocks unless rows are so long that each core has many of the tiles that leave room for a block.
void RecurrenceGrid::emitByWidth(llvm::ArrayRef<Value> storages) {
  int64_t rounds = roundsOfBlocks();
  if (rounds == 1 || hasColumns_)
    return emitGrid(storages, rounds);
  constexpr int64_t few = 2;
  Value most = constant(few * tiles_.grids * (elementsOfLanes() / rounds));
  Value isNarrow =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, parts_[0].whole, most);
  if (std::optional<int64_t> known = getConstantIntValue(isNarrow))
    return emitGrid(storages, *known ? rounds : 1);
  OpBuilder::InsertionGuard guard(b_);
  auto branch = b_.create<scf::IfOp>(loc_, TypeRange(), isNarrow, /*withElseRegion=*/true);
  b_.setInsertionPointToStart(branch.thenBlock());
  emitGrid(storages, rounds);
  b_.setInsertionPointToStart(branch.elseBlock());
  emitGrid(storages, 1);
}

/// The loop as it is, with results where those of the grid would be.
void RecurrenceGrid::moveLoop(Block &block, llvm::ArrayRef<Value> storages) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(block.getTerminator());
  loop_->moveBefore(block.getTerminator());
  for (auto [result, ref] : llvm::zip(loop_.getResults(), storages))
    if (ref)
      storeWhole(b_, loc_, result, ref);
}

void RecurrenceGrid::rewrite() {
  findParts();
  areApart_ = areRoundsApart();
  llvm::SmallVector<Value> storages;
  for (auto [result, init] : llvm::zip(loop_.getResults(), loop_.getInitArgs()))
    storages.push_back(isa<ArrayType>(result.getType()) && !result.use_empty()
                           ? storageLike(b_, loc_, init)
                           : Value());
  scf::IfOp branch;
  // Whether the held axes fit is known when the program runs: one branch has the grid, the other the loop unchanged.
  if (Value fit = heldFit())
    branch = b_.create<scf::IfOp>(loc_, TypeRange(), fit, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b_);
    if (branch)
      b_.setInsertionPointToStart(branch.thenBlock());
    emitByWidth(storages);
  }
  for (auto [result, ref] : llvm::zip(loop_.getResults(), storages))
    if (ref)
      result.replaceAllUsesWith(loadWhole(b_, loc_, ref, result.getType()));
  if (branch)
    moveLoop(*branch.elseBlock(), storages);
  else
    loop_.erase();
}

/// What a schedule says of the tiles or tasks of an operation is about a grid of its own.
static bool isNamedInLoop(scf::ForOp loop) {
  return loop
      .walk([](Operation *op) {
        bool isNamed = isScheduled(op) || isInSchedule(op) || attrs::task.of(op);
        return isNamed ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void tileRecurrences(func::FuncOp function, const RecurrenceTiles &tiles) {
  unsigned number = 0;
  // An outer loop comes before those in its body, which it takes along.
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    std::optional<LoopLanes> lanes = LoopLanes::of(loop, tiles.mayReread);
    if (!lanes || isNamedInLoop(loop))
      return WalkResult::advance();
    RecurrenceGrid grid(loop, std::move(*lanes), tiles, number);
    if (!grid.match())
      return WalkResult::advance();
    grid.rewrite();
    // The loop is gone, or it stands in the branch for lengths that do not fit, where it must not be matched again.
    return WalkResult::skip();
  });
}

} // namespace ptl::ir
