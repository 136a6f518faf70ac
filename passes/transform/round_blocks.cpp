#include "passes/transform/round_blocks.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/kept_axis.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace ptl::ir {

/// Whether an offset goes back by one from round to round, or on by one; nothing if it does neither.
static std::optional<bool> isBackward(scf::ForOp loop, Value offset) {
  if (offset == loop.getInductionVar())
    return false;
  Operation *made = offset.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(made))
    return std::nullopt;
  bool isLeftFixed = loop.isDefinedOutsideOfLoop(made->getOperand(0)),
       isRightFixed = loop.isDefinedOutsideOfLoop(made->getOperand(1));
  // If both operands moved, the sum could move by two or not at all.
  if (isLeftFixed == isRightFixed)
    return std::nullopt;
  std::optional<bool> moving = isBackward(loop, made->getOperand(isLeftFixed ? 1 : 0));
  // Only the right operand of a subtraction turns the direction around.
  return moving && isLeftFixed && isa<arith::SubIOp>(made) ? !*moving : moving;
}

bool goesWithRounds(scf::ForOp loop, Value offset) { return isBackward(loop, offset).has_value(); }

namespace {

/// A row of memory that each round reads or writes, or a column.
struct RowOfRound {
  Operation *op;
  size_t axis;     ///< of the base; rounds go along it
  bool isBackward; ///< whether the next round has the row before
  /// Whether the axis of rounds comes last, so that a round has an element of each row.
  bool isColumn;
};

/// What a round computes from rows that are read, and from nothing that another round leaves: for the rounds of a
/// block at once, as an array with a row for each of them.
struct BlockOfRounds {
  Value value;
  bool isBackward;
};

ArrayType turnedType(ArrayType type) {
  return arrayTypeOf(type.getElementType(), {type.getExtents()[1], type.getExtents()[0]});
}

/// What reads and writes of boxes have in common.
struct Box {
  Value base;
  OperandRange offsets, lengths;
  llvm::ArrayRef<int64_t> dropped;
  Type row;
  bool isPlain; ///< no steps, nothing beyond edges, nothing by position, nothing combined

  static std::optional<Box> of(Operation *op);
};

class RoundBlocks {
public:
  explicit RoundBlocks(scf::ForOp loop) : loop_(loop) {}

  /// Finds the rows; false if there are none.
  bool find();
  bool hasColumns() const {
    auto isColumn = [](const RowOfRound &row) { return row.isColumn; };
    return llvm::any_of(reads_, isColumn) || llvm::any_of(writes_, isColumn);
  }
  void rewrite(int64_t rounds, unsigned &number);

private:
  bool isOutside(Value value) { return loop_.isDefinedOutsideOfLoop(value); }
  std::optional<RowOfRound> rowOf(Operation *op);
  bool isOnlyUser(Operation *op, Value base);

  Value constant(int64_t value) {
    return b_->create<arith::ConstantIndexOp>(loop_.getLoc(), value);
  }
  Value add(Value a, Value b) { return b_->createOrFold<arith::AddIOp>(loop_.getLoc(), a, b); }
  Value sub(Value a, Value b) { return b_->createOrFold<arith::SubIOp>(loop_.getLoc(), a, b); }
  Value offsetAt(Value offset, Value round);
  void openBlock(int64_t rounds, unsigned &number);
  void loadBlock(const RowOfRound &row);
  Value turned(Value block, Location loc);
  void computeBlock(Operation &op);
  void computeBlocks();
  bool isOfBlock(Operation *op) const;
  Value emptyBlock(const RowOfRound &row);
  void runRounds(llvm::ArrayRef<Value> empty);
  void runRound(Value number, llvm::MutableArrayRef<Value> written, IRMapping &map);
  void storeBlock(const RowOfRound &row, Value block);
  Type blockType(Type row) const;
  Value rowAt(bool isBackward, Value number) {
    return isBackward ? sub(sub(length_, constant(1)), number) : number;
  }

  scf::ForOp loop_, outer_;
  std::optional<OpBuilder> b_;
  llvm::SmallVector<RowOfRound> reads_, writes_;
  llvm::SmallPtrSet<Operation *, 2> stored_;    ///< writes of what is computed for whole blocks
  llvm::DenseMap<Value, BlockOfRounds> blocks_; ///< of the present block, by what a round has of it
  Value begin_, last_, length_;                 ///< of the present block: its first and last round
  Extent extent_;
};

} // namespace

std::optional<Box> Box::of(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return Box{slice.getSource(),           slice.getOffsets(),
               slice.getLengths(),          slice.getDropped(),
               slice.getResult().getType(), slice.getSteps().empty() && !slice.getOutside()};
  if (auto load = dyn_cast<LoadOp>(op))
    return Box{load.getRef(),
               load.getOffsets(),
               load.getLengths(),
               load.getDropped(),
               load.getResult().getType(),
               load.getSteps().empty() && !load.getOutside()};
  if (auto store = dyn_cast<StoreOp>(op))
    return Box{store.getRef(),
               store.getOffsets(),
               store.getLengths(),
               store.getDropped(),
               store.getValue().getType(),
               store.getSteps().empty() && !store.getIndex() && !store.getAtomic()};
  return std::nullopt;
}

/// Whether nothing else in the loop reaches this memory.
bool RoundBlocks::isOnlyUser(Operation *op, Value base) {
  return llvm::all_of(base.getUsers(), [&](Operation *user) {
    return user == op || isa<DimOp>(user) || !loop_->isAncestor(user);
  });
}

std::optional<RowOfRound> RoundBlocks::rowOf(Operation *op) {
  std::optional<Box> box = Box::of(op);
  // What lies near the core is read as it is.
  auto isNear = [](Value base) {
    Operation *around = base.getParentBlock()->getParentOp();
    return isa<ParallelOp>(around) || around->getParentOfType<ParallelOp>();
  };
  // Conditions and elements of less than a byte do not lie in memory as in tiles.
  if (!box || !box->isPlain || !isOutside(box->base) || isNear(box->base) ||
      rankOf(box->row) != 1 || elementTypeOf(box->row).getIntOrFloatBitWidth() < 8 ||
      extentsOf(box->row).front().isOne() ||
      rankOf(box->base.getType()) != static_cast<int64_t>(box->dropped.size()) + 1)
    return std::nullopt;
  std::optional<RowOfRound> row;
  for (auto [axis, offset] : llvm::enumerate(box->offsets)) {
    if (isOutside(offset))
      continue;
    std::optional<bool> goesBack = isBackward(loop_, offset);
    if (row || !goesBack || !llvm::is_contained(box->dropped, static_cast<int64_t>(axis)))
      return std::nullopt;
    // In a block the axis of rounds comes first (`blockType`), but boxes keep the order of their base's axes.
    int64_t kept = keptAxis(box->dropped, rankOf(box->base.getType()), 0);
    row = {op, axis, *goesBack, static_cast<int64_t>(axis) > kept};
  }
  bool isRow = row && llvm::all_of(box->lengths, [&](Value length) { return isOutside(length); });
  // Values of arrays do not change. Storage is read or written only once for a block, so nothing else in the loop may reach it in
  // between.
  bool isSafe = !isa<RefType>(box->base.getType()) || isOnlyUser(op, box->base);
  return isRow && isSafe ? row : std::nullopt;
}

bool RoundBlocks::find() {
  constexpr int64_t kFewRounds = 4;
  std::optional<int64_t> from = getConstantIntValue(loop_.getLowerBound()),
                         to = getConstantIntValue(loop_.getUpperBound());
  if (!matchPattern(loop_.getStep(), m_One()) || (from && to && *to - *from < kFewRounds))
    return false;
  for (Operation &op : loop_.getBody()->without_terminator())
    if (std::optional<RowOfRound> row = rowOf(&op))
      (isa<StoreOp>(op) ? writes_ : reads_).push_back(*row);
  return !reads_.empty() || !writes_.empty();
}

/// An offset, computed for a round.
Value RoundBlocks::offsetAt(Value offset, Value round) {
  if (isOutside(offset))
    return offset;
  if (offset == loop_.getInductionVar())
    return round;
  Operation *made = offset.getDefiningOp();
  Value left = offsetAt(made->getOperand(0), round), right = offsetAt(made->getOperand(1), round);
  return isa<arith::AddIOp>(made) ? add(left, right) : sub(left, right);
}

Type RoundBlocks::blockType(Type row) const {
  return arrayTypeOf(elementTypeOf(row), {extent_, extentsOf(row).front()});
}

/// The loop over blocks, and the length of the present one.
void RoundBlocks::openBlock(int64_t rounds, unsigned &number) {
  Location loc = loop_.getLoc();
  std::optional<int64_t> from = getConstantIntValue(loop_.getLowerBound()),
                         to = getConstantIntValue(loop_.getUpperBound());
  outer_ = b_->create<scf::ForOp>(loc, loop_.getLowerBound(), loop_.getUpperBound(),
                                  constant(rounds), loop_.getInitArgs());
  attrs::pipeline.set(outer_, 2); // the next block is loaded meanwhile
  // A loop that carries nothing is created with a terminator; ours is made when the rounds have been emitted.
  if (!outer_.getBody()->empty())
    outer_.getBody()->back().erase();
  b_->setInsertionPointToStart(outer_.getBody());
  begin_ = outer_.getInductionVar();
  if (from && to && (*to - *from) % rounds == 0) {
    length_ = constant(rounds);
    extent_ = Extent::constant(rounds);
  } else {
    length_ =
        b_->createOrFold<arith::MinSIOp>(loc, sub(loop_.getUpperBound(), begin_), constant(rounds));
    extent_ = Extent::named(b_->getStringAttr("rb" + std::to_string(number++)), rounds);
  }
  last_ = add(begin_, sub(length_, constant(1)));
}

void RoundBlocks::loadBlock(const RowOfRound &row) {
  Operation *block = b_->clone(*row.op);
  auto widen = [&](auto box) {
    // If rows go backward, the last round of the block has the row with the lowest position.
    box.getOffsetsMutable()[row.axis].set(
        offsetAt(box.getOffsets()[row.axis], row.isBackward ? last_ : begin_));
    box.getLengthsMutable()[row.axis].set(length_);
    llvm::SmallVector<int64_t> dropped(box.getDropped());
    llvm::erase(dropped, static_cast<int64_t>(row.axis));
    box.setDropped(dropped);
  };
  {
    OpBuilder::InsertionGuard guard(*b_);
    b_->setInsertionPoint(block);
    if (auto slice = dyn_cast<SliceOp>(block))
      widen(slice);
    else
      widen(cast<LoadOp>(block));
  }
  Value result = block->getResult(0);
  auto type = cast<ArrayType>(blockType(result.getType()));
  result.setType(row.isColumn ? turnedType(type) : type);
  blocks_[row.op->getResult(0)] = {row.isColumn ? turned(result, row.op->getLoc()) : result,
                                   row.isBackward};
}

/// A matrix whose rows become columns.
Value RoundBlocks::turned(Value block, Location loc) {
  return b_->create<TransposeOp>(loc, turnedType(cast<ArrayType>(block.getType())), block,
                                 b_->getDenseI64ArrayAttr({1, 0}));
}

/// Computes `op` for all rounds of the block, if it needs nothing but rows that are read and values from outside.
void RoundBlocks::computeBlock(Operation &op) {
  if (!isElementwise(&op) || op.getNumResults() != 1 || rankOf(op.getResult(0).getType()) != 1)
    return;
  std::optional<bool> isBackward;
  for (Value operand : op.getOperands()) {
    auto block = blocks_.find(operand);
    if (block == blocks_.end() && isOutside(operand))
      continue;
    // Rows of rounds that go on lie in the other order than those of rounds that go back.
    if (block == blocks_.end() ||
        isBackward.value_or(block->second.isBackward) != block->second.isBackward)
      return;
    isBackward = block->second.isBackward;
  }
  if (!isBackward)
    return;
  IRMapping map;
  for (Value operand : op.getOperands())
    if (auto block = blocks_.find(operand); block != blocks_.end())
      map.map(operand, block->second.value);
  Value result = b_->clone(op, map)->getResult(0);
  result.setType(blockType(result.getType()));
  blocks_[op.getResult(0)] = {result, *isBackward};
}

/// Whether an operation is done for all rounds of the block at once.
bool RoundBlocks::isOfBlock(Operation *op) const {
  return stored_.contains(op) || (op->getNumResults() == 1 && blocks_.contains(op->getResult(0)));
}

/// What is done for whole blocks, from loads to stores.
void RoundBlocks::computeBlocks() {
  for (const RowOfRound &row : reads_)
    loadBlock(row);
  Block &body = *loop_.getBody();
  for (Operation &op : body.without_terminator())
    computeBlock(op);
  llvm::erase_if(writes_, [&](const RowOfRound &row) {
    auto block = blocks_.find(cast<StoreOp>(row.op).getValue());
    if (block == blocks_.end() || block->second.isBackward != row.isBackward)
      return false;
    storeBlock(row, block->second.value);
    return stored_.insert(row.op).second;
  });
  // Conditions do not lie in memory as in tiles, so no row of theirs can be taken: each round has its own.
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (isOfBlock(&op) && !stored_.contains(&op) &&
        elementTypeOf(op.getResult(0).getType()).getIntOrFloatBitWidth() < 8 &&
        !llvm::all_of(op.getUsers(), [&](Operation *user) { return isOfBlock(user); }))
      blocks_.erase(op.getResult(0));
}

Value RoundBlocks::emptyBlock(const RowOfRound &row) {
  auto store = cast<StoreOp>(row.op);
  llvm::SmallVector<Value> lengths;
  if (!extent_.isConstant())
    lengths.push_back(length_);
  int64_t kept = keptAxis(store.getDropped(), rankOf(store.getRef().getType()), 0);
  if (!extentsOf(store.getValue().getType()).front().isConstant())
    lengths.push_back(store.getLengths()[static_cast<size_t>(kept)]);
  // The zeros are never stored: each round of the block replaces its own row, and the block has as many rows as rounds.
  return b_->create<ZerosOp>(store.getLoc(), blockType(store.getValue().getType()), lengths);
}

/// One round: rows come from the blocks, and go into those that are written.
void RoundBlocks::runRound(Value number, llvm::MutableArrayRef<Value> written, IRMapping &map) {
  map.map(loop_.getInductionVar(), add(begin_, number));
  auto boxOf = [&](bool isBackward, Value length) {
    return std::pair(llvm::SmallVector<Value>{rowAt(isBackward, number), constant(0)},
                     llvm::SmallVector<Value>{constant(1), length});
  };
  auto lengthOf = [&](Operation *op) {
    std::optional<Box> box = Box::of(op);
    return box
        ->lengths[static_cast<size_t>(keptAxis(box->dropped, rankOf(box->base.getType()), 0))];
  };
  DenseI64ArrayAttr first = b_->getDenseI64ArrayAttr({0});
  for (Operation &op : loop_.getBody()->without_terminator()) {
    auto isThis = [&](const RowOfRound &row) { return row.op == &op; };
    if (isOfBlock(&op)) {
      // What only serves the whole block is never asked for one round.
      if (llvm::all_of(op.getUsers(), [&](Operation *user) { return isOfBlock(user); }))
        continue;
      auto block = blocks_.find(op.getResult(0));
      Value length = ir::lengthOf(*b_, block->second.value, 1);
      auto [offsets, lengths] = boxOf(block->second.isBackward, length);
      Value made = b_->create<SliceOp>(op.getLoc(), op.getResult(0).getType(), block->second.value,
                                       offsets, lengths, ValueRange(), Value(), first);
      map.map(op.getResult(0), made);
    } else if (auto *row = llvm::find_if(writes_, isThis); row != writes_.end()) {
      auto [offsets, lengths] = boxOf(row->isBackward, lengthOf(&op));
      Value &block = written[static_cast<size_t>(row - writes_.begin())];
      block = b_->create<InsertOp>(op.getLoc(), block.getType(),
                                   map.lookupOrDefault(cast<StoreOp>(op).getValue()), block,
                                   offsets, lengths, ValueRange(), Value(), first, IntegerAttr());
    } else {
      b_->clone(op, map);
    }
  }
}

/// The rounds of a block carry what the loop does, and what they write.
void RoundBlocks::runRounds(llvm::ArrayRef<Value> empty) {
  Location loc = loop_.getLoc();
  auto isDone = [&](Operation &op) { return isOfBlock(&op) || isPure(&op); };
  if (loop_.getInitArgs().empty() && llvm::all_of(loop_.getBody()->without_terminator(), isDone)) {
    b_->create<scf::YieldOp>(loc);
    return;
  }
  llvm::SmallVector<Value> inits(outer_.getRegionIterArgs());
  llvm::append_range(inits, empty);
  auto inner = b_->create<scf::ForOp>(loc, constant(0), length_, constant(1), inits);
  // A loop that carries nothing has a terminator already, which the yield below replaces.
  if (!inner.getBody()->empty())
    inner.getBody()->back().erase();
  size_t carried = loop_.getInitArgs().size();
  {
    OpBuilder::InsertionGuard guard(*b_);
    b_->setInsertionPointToStart(inner.getBody());
    IRMapping map;
    map.map(loop_.getRegionIterArgs(), inner.getRegionIterArgs().take_front(carried));
    llvm::SmallVector<Value> written(inner.getRegionIterArgs().drop_front(carried));
    runRound(inner.getInductionVar(), written, map);
    llvm::SmallVector<Value> next;
    for (Value value : loop_.getBody()->getTerminator()->getOperands())
      next.push_back(map.lookupOrDefault(value));
    llvm::append_range(next, written);
    b_->create<scf::YieldOp>(loc, next);
  }
  for (auto [row, block] : llvm::zip(writes_, inner.getResults().drop_front(carried)))
    storeBlock(row, block);
  b_->create<scf::YieldOp>(loc, inner.getResults().take_front(carried));
}

void RoundBlocks::storeBlock(const RowOfRound &row, Value block) {
  auto store = cast<StoreOp>(row.op);
  llvm::SmallVector<Value> offsets(store.getOffsets()), lengths(store.getLengths());
  offsets[row.axis] = offsetAt(offsets[row.axis], row.isBackward ? last_ : begin_);
  lengths[row.axis] = length_;
  llvm::SmallVector<int64_t> dropped(store.getDropped());
  llvm::erase(dropped, static_cast<int64_t>(row.axis));
  Value stored = row.isColumn ? turned(block, store.getLoc()) : block;
  b_->create<StoreOp>(store.getLoc(), stored, store.getRef(), offsets, lengths, ValueRange(),
                      Value(), b_->getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
}

void RoundBlocks::rewrite(int64_t rounds, unsigned &number) {
  b_.emplace(loop_);
  openBlock(rounds, number);
  computeBlocks();
  llvm::SmallVector<Value> empty;
  for (const RowOfRound &row : writes_)
    empty.push_back(emptyBlock(row));
  runRounds(empty);
  loop_.replaceAllUsesWith(outer_.getResults());
  loop_.erase();
}

void hoistPositions(scf::ForOp loop) {
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    bool isPosition = op.getNumRegions() == 0 && op.getNumResults() == 1 && isPure(&op) &&
                      op.getResult(0).getType().isIndex();
    if (isPosition && llvm::all_of(op.getOperands(),
                                   [&](Value value) { return loop.isDefinedOutsideOfLoop(value); }))
      op.moveBefore(loop);
  }
}

std::optional<bool> rowsOfRounds(scf::ForOp loop) {
  std::optional<bool> hasColumns;
  loop.walk([&](scf::ForOp each) {
    hoistPositions(each);
    if (RoundBlocks blocks(each); blocks.find())
      hasColumns = hasColumns.value_or(false) || blocks.hasColumns();
  });
  return hasColumns;
}

bool hasRowsOfRounds(scf::ForOp loop) {
  hoistPositions(loop);
  return RoundBlocks(loop).find();
}

void blockRounds(scf::ForOp loop, int64_t rounds, unsigned &number) {
  llvm::SmallVector<scf::ForOp> loops;
  // Inner loops are collected first: a rewrite replaces the loop, so an outer loop is still there when its turn comes.
  loop.walk([&](scf::ForOp each) { loops.push_back(each); }); // inner ones first
  for (scf::ForOp each : loops) {
    hoistPositions(each);
    if (RoundBlocks blocks(each); blocks.find())
      blocks.rewrite(rounds, number);
  }
}

} // namespace ptl::ir
