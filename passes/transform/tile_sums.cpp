#include "passes/transform/tile_sums.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/source_place.h"
#include "passes/analysis/sum_loops.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ptl::ir {

/// Where columns are lines of an image, a tile has this many rows of the sum, and lines with about
/// this many columns: the packed lines serve all rows and stay in the second-level cache.
static constexpr int64_t kRowsOfLines = 128, kColumnsOfLines = 256;

namespace {
/// A part of an axis of the sum, or of the lines that form its columns.
struct Part {
  Value position, length;
  Extent extent;
};

class SumTiles {
public:
  SumTiles(const SumLoops &sum, const TileSizes &sizes, unsigned number)
      : sum_(sum), sizes_(sizes), number_(number), b_(sum_.add), loc_(sum_.add.getLoc()) {}

  bool match();
  void rewrite();

private:
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Extent named(const char *axis, int64_t capacity = Extent::kUnknown) {
    return Extent::named(b_.getStringAttr("s" + std::to_string(number_) + "." + axis), capacity);
  }
  Part part(Value position, Value whole, Value step, const Extent &extent);
  Value linesAtATime();
  ParallelOp openTiles();
  Value matrixOf(Value value);
  Value startOfTile();
  Value leftOfTile(IRMapping &map);
  Value rightOfTile(IRMapping &map);
  Value loop(size_t depth, Value start, IRMapping &map);

  SumLoops sum_;
  TileSizes sizes_;
  unsigned number_;
  OpBuilder b_;
  Location loc_;
  Value lines_; ///< the right operand as lines; null if its columns are evenly spaced
  /// The lengths of the axes of the sum before its matrices, and the tile's position along them.
  llvm::SmallVector<Value> leading_, position_;
  Value rows_, columns_; ///< of the sum
  Value lineCount_, lineLength_;
  Part row_, column_, line_; ///< of a tile
};
} // namespace

static bool isScheduled(Operation *op) {
  return attrs::tile.of(op) || attrs::cores.of(op) || attrs::split.isOn(op) || attrs::fuse.of(op);
}

/// Whether a value is one matrix for all positions of the sum's leading axes, or has one matrix for
/// each position.
static bool isMatrixOf(Value value, Value sum) {
  llvm::ArrayRef<Extent> own = extentsOf(value.getType()), all = extentsOf(sum.getType());
  return own.size() == 2 || (own.size() == all.size() && own.drop_back(2) == all.drop_back(2));
}

bool SumTiles::match() {
  Value left = sum_.product->getOperand(0), right = sum_.product->getOperand(1);
  Value whole = sum_.add->getResult(0);
  if (rankOf(whole.getType()) < 2 || !isMatrixOf(left, whole) || !isMatrixOf(right, whole) ||
      isScheduled(sum_.product) || isScheduled(sum_.add) || !sum_.hasNumberedRounds())
    return false;
  // An iteration must compute nothing for its operands, since each tile repeats the loop.
  llvm::SmallVector<Value> arrays;
  lines_ = sum_.linesOfRight();
  if (!sum_.isPart(left, arrays) || !sum_.isPart(lines_ ? lines_ : right, arrays))
    return false;
  if (lines_) {
    lineCount_ = sum_.lengthBefore(b_, lines_, 1);
    lineLength_ = sum_.lengthBefore(b_, lines_, 2);
    if (!lineCount_ || !lineLength_)
      return false;
  }
  return true;
}

/// From a position on, `step` elements or as many as are left.
Part SumTiles::part(Value position, Value whole, Value step, const Extent &extent) {
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, whole, position);
  return {position, b_.createOrFold<arith::MinSIOp>(loc_, rest, step), extent};
}

Value SumTiles::linesAtATime() {
  // A length of 0 is taken as 1, because dividing by it is not defined.
  Value length = b_.createOrFold<arith::MaxSIOp>(loc_, lineLength_, constant(1));
  Value lines = b_.createOrFold<arith::DivUIOp>(loc_, constant(kColumnsOfLines), length);
  return b_.createOrFold<arith::MaxSIOp>(loc_, lines, constant(1));
}

ParallelOp SumTiles::openTiles() {
  int64_t rows = lines_ ? kRowsOfLines : sizes_.productM;
  Value rowStep = constant(rows), step = lines_ ? linesAtATime() : constant(sizes_.productN);
  Value along = lines_ ? lineCount_ : columns_;
  llvm::SmallVector<Value> upper(leading_), steps(leading_.size(), constant(1));
  upper.append({rows_, along});
  steps.append({rowStep, step});
  ParallelOp grid = openGrid(b_, loc_, upper, steps, block::withoutName(loc_));
  auto arguments = grid.getBody().getArguments();
  position_.assign(arguments.begin(), arguments.end() - 2);
  row_ = part(arguments[leading_.size()], rows_, rowStep, named("0", rows));
  Value position = arguments.back();
  if (!lines_) {
    column_ = part(position, columns_, step, named("1", sizes_.productN));
    return grid;
  }
  line_ = part(position, lineCount_, step, named("lines"));
  column_ = {b_.createOrFold<arith::MulIOp>(loc_, position, lineLength_),
             b_.createOrFold<arith::MulIOp>(loc_, line_.length, lineLength_), named("1")};
  return grid;
}

/// A matrix as it is; of an array of matrices the one at the tile's position.
Value SumTiles::matrixOf(Value value) {
  auto type = cast<ArrayType>(value.getType());
  if (type.getRank() == 2 || position_.empty())
    return value;
  llvm::SmallVector<Value> offsets(position_), lengths(position_.size(), constant(1));
  llvm::SmallVector<int64_t> dropped;
  for (size_t axis = 0; axis < position_.size(); ++axis)
    dropped.push_back(static_cast<int64_t>(axis));
  for (int64_t axis = type.getRank() - 2; axis < type.getRank(); ++axis) {
    offsets.push_back(constant(0));
    lengths.push_back(lengthOf(b_, value, axis));
  }
  auto matrix = ArrayType::get(type.getContext(), type.getElementType(),
                               type.getExtents().take_back(2), Place::Inferred);
  return b_.create<SliceOp>(loc_, matrix, value, offsets, lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr(dropped));
}

Value SumTiles::startOfTile() {
  Value start = sum_.loops.front().getInitArgs()[0];
  auto whole = cast<ArrayType>(start.getType());
  auto type = ArrayType::get(whole.getContext(), whole.getElementType(),
                             {row_.extent, column_.extent}, Place::Inferred);
  // Zeros are made for the tile instead of a whole array of them that is then sliced.
  if (auto zeros = start.getDefiningOp<ZerosOp>()) {
    OperationState state(loc_, zeros->getName());
    state.addOperands({row_.length, column_.length});
    state.addAttributes(zeros->getAttrs());
    state.addTypes(type);
    return b_.create(state)->getResult(0);
  }
  Value rows = cutAlong(b_, matrixOf(start), 0, row_.position, row_.length, row_.extent);
  return cutAlong(b_, rows, 1, column_.position, column_.length, column_.extent);
}

Value SumTiles::leftOfTile(IRMapping &map) {
  Value left = matrixOf(map.lookupOrDefault(sum_.product->getOperand(0)));
  return cutAlong(b_, left, 0, row_.position, row_.length, row_.extent);
}

Value SumTiles::rightOfTile(IRMapping &map) {
  if (!lines_)
    return cutAlong(b_, matrixOf(map.lookupOrDefault(sum_.product->getOperand(1))), 1,
                    column_.position, column_.length, column_.extent);
  Value lines =
      cutAlong(b_, map.lookupOrDefault(lines_), 1, line_.position, line_.length, line_.extent);
  Type type = withExtent(sum_.product->getOperand(1).getType(), 1, column_.extent);
  OperationState state(loc_, ReshapeOp::getOperationName());
  state.addOperands(lines);
  if (!extentsOf(type).front().isConstant())
    state.addOperands(lengthOf(b_, lines, 0));
  state.addOperands(column_.length);
  state.addTypes(type);
  return b_.create(state)->getResult(0);
}

/// Repeats the loop for one tile.
Value SumTiles::loop(size_t depth, Value start, IRMapping &map) {
  scf::ForOp loop = sum_.loops[depth];
  auto own = b_.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                   loop.getStep(), start);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(own.getBody());
  map.map(loop.getInductionVar(), own.getInductionVar());
  Value carried = own.getRegionIterArg(0), next;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<scf::ForOp>(op)) {
      next = this->loop(depth + 1, carried, map);
    } else if (&op == sum_.product) {
      Value left = leftOfTile(map);
      map.map(op.getResult(0), cloneWith(b_, &op, {left, rightOfTile(map)}, start.getType()));
    } else if (&op == sum_.add) {
      next = cloneWith(b_, &op, {carried, map.lookup(sum_.product->getResult(0))}, start.getType());
      // With lines the cast and the whole right operand are not needed in the tile's loop.
    } else if (&op != sum_.cast && (op.getResult(0) != sum_.product->getOperand(1) || !lines_)) {
      b_.clone(op, map);
    }
  }
  b_.create<scf::YieldOp>(loop.getLoc(), next);
  return own.getResult(0);
}

void SumTiles::rewrite() {
  scf::ForOp outermost = sum_.loops.front();
  b_.setInsertionPoint(outermost);
  Value result = outermost.getResult(0), start = outermost.getInitArgs()[0];
  int64_t leading = rankOf(start.getType()) - 2;
  for (int64_t axis = 0; axis < leading; ++axis)
    leading_.push_back(lengthOf(b_, start, axis));
  rows_ = lengthOf(b_, start, leading);
  columns_ = lengthOf(b_, start, leading + 1);
  // Tiles are written to storage, which no tile reads, so their order is free.
  Value ref = storageLike(b_, loc_, start);
  {
    OpBuilder::InsertionGuard guard(b_);
    openTiles();
    IRMapping map;
    Value sum = loop(0, startOfTile(), map);
    llvm::SmallVector<Value> offsets(position_), lengths(position_.size(), constant(1));
    offsets.append({row_.position, column_.position});
    lengths.append({row_.length, column_.length});
    llvm::SmallVector<int64_t> dropped;
    for (int64_t axis = 0; axis < leading; ++axis)
      dropped.push_back(axis);
    b_.create<StoreOp>(loc_, sum, ref, offsets, lengths, ValueRange(), Value(),
                       b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
    b_.create<YieldOp>(loc_);
  }
  auto type = cast<ArrayType>(result.getType());
  Value loaded = loadWhole(
      b_, loc_, ref,
      ArrayType::get(type.getContext(), type.getElementType(), type.getExtents(), Place::Inferred));
  if (type != loaded.getType())
    loaded = b_.create<CastOp>(loc_, type, loaded);
  result.replaceAllUsesWith(loaded);
  outermost.erase();
}

void tileSums(func::FuncOp function, const TileSizes &sizes) {
  llvm::SmallVector<scf::ForOp> loops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      loops.push_back(loop);
      // The loops inside it are tiled together with it.
      if (SumLoops::of(loop))
        return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  unsigned number = 0;
  for (scf::ForOp loop : loops)
    if (std::optional<SumLoops> sum = SumLoops::of(loop)) {
      SumTiles tiles(*sum, sizes, number++);
      if (tiles.match())
        tiles.rewrite();
    }
}

} // namespace ptl::ir
