#include "passes/transform/tile_sums.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/source_place.h"
#include "passes/analysis/sum_loops.h"
#include "passes/transform/groups/group_schedule.h"
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
/// Where rows are lines of an image, a tile has lines with about as many rows, since what it has of the right operand is packed for each
/// tile, and few columns, so that small images are several tiles, too.
static constexpr int64_t kRowsInLines = 448, kColumnsBesideLines = 64;

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
  Value linesAtATime(int64_t most);
  Part linesOf(Value position, Value step, const char *axis);
  Value reshaped(Value lines, Operation *like, int64_t axis, const Part &part);
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
  Value
      rowLines_; ///< the left operand as lines; null if its rows are even, or if the columns of the right one are not
  Value lines_;  ///< the right operand as lines; null if its columns are even
  /// Of the axes of the sum in front of its matrices: how long they are, and where a tile stands.
  llvm::SmallVector<Value> leading_, position_;
  Value rows_, columns_; ///< of the sum
  Value lineCount_, lineLength_;
  Part row_, column_, line_; ///< of a tile
};
} // namespace

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
  // Only one side is taken as lines: the tile has whole lines of it, and even steps of the other.
  lines_ = sum_.linesOfRight();
  rowLines_ = lines_ ? Value() : sum_.linesOfLeft();
  if (!sum_.isPart(rowLines_ ? rowLines_ : left, arrays) ||
      !sum_.isPart(lines_ ? lines_ : right, arrays))
    return false;
  if (Value lines = lines_ ? lines_ : rowLines_) {
    int64_t axis = lines_ ? 1 : 0;
    lineCount_ = sum_.lengthBefore(b_, lines, axis);
    lineLength_ = sum_.lengthBefore(b_, lines, axis + 1);
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

Value SumTiles::linesAtATime(int64_t most) {
  // The length is known when the program runs and may be 0, by which nothing is divided.
  Value length = b_.createOrFold<arith::MaxSIOp>(loc_, lineLength_, constant(1));
  Value lines = b_.createOrFold<arith::DivUIOp>(loc_, constant(most), length);
  return b_.createOrFold<arith::MaxSIOp>(loc_, lines, constant(1));
}

/// The lines of a tile, and the part of the sum's axis that they are.
Part SumTiles::linesOf(Value position, Value step, const char *axis) {
  line_ = part(position, lineCount_, step, named("lines"));
  return {b_.createOrFold<arith::MulIOp>(loc_, position, lineLength_),
          b_.createOrFold<arith::MulIOp>(loc_, line_.length, lineLength_), named(axis)};
}

ParallelOp SumTiles::openTiles() {
  int64_t rows = lines_ ? kRowsOfLines : sizes_.productM;
  // Along lines a step counts lines, along everything else elements.
  Value rowStep = rowLines_ ? linesAtATime(kRowsInLines) : constant(rows);
  int64_t columns = rowLines_ ? kColumnsBesideLines : sizes_.productN;
  Value step = lines_ ? linesAtATime(kColumnsOfLines) : constant(columns);
  llvm::SmallVector<Value> upper(leading_), steps(leading_.size(), constant(1));
  upper.append({rowLines_ ? lineCount_ : rows_, lines_ ? lineCount_ : columns_});
  steps.append({rowStep, step});
  ParallelOp grid = openGrid(b_, loc_, upper, steps, block::withoutName(loc_));
  auto arguments = grid.getBody().getArguments();
  position_.assign(arguments.begin(), arguments.end() - 2);
  Value first = arguments[leading_.size()], position = arguments.back();
  row_ = rowLines_ ? linesOf(first, rowStep, "0") : part(first, rows_, rowStep, named("0", rows));
  column_ =
      lines_ ? linesOf(position, step, "1") : part(position, columns_, step, named("1", columns));
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
  auto matrix = arrayTypeOf(type.getElementType(), type.getExtents().take_back(2));
  return b_.create<SliceOp>(loc_, matrix, value, offsets, lengths, ValueRange(), Value(),
                            b_.getDenseI64ArrayAttr(dropped));
}

Value SumTiles::startOfTile() {
  Value start = sum_.loops.front().getInitArgs()[0];
  auto whole = cast<ArrayType>(start.getType());
  auto type = arrayTypeOf(whole.getElementType(), {row_.extent, column_.extent});
  // Zeros are made for the tile instead of a whole array of them that is then sliced.
  if (auto zeros = start.getDefiningOp<ZerosOp>()) {
    return makeOp(b_, loc_, zeros->getName().getStringRef(), type, {row_.length, column_.length},
                  zeros->getAttrs());
  }
  Value rows = cutAlong(b_, matrixOf(start), 0, row_.position, row_.length, row_.extent);
  return cutAlong(b_, rows, 1, column_.position, column_.length, column_.extent);
}

/// Lines of a tile as a matrix, of the type of an operand but for the axis that they are put together to.
Value SumTiles::reshaped(Value lines, Operation *like, int64_t axis, const Part &part) {
  Type type = withExtent(like->getResult(0).getType(), axis, part.extent);
  OperationState state(loc_, ReshapeOp::getOperationName());
  state.addOperands(lines);
  // The lengths of extents that are no constants are operands. Lines of rows are `[lines, length, k]`, those of columns `[k, lines,
  // length]`.
  for (int64_t each = 0; each < 2; ++each) {
    const Extent &extent = extentsOf(type)[static_cast<size_t>(each)];
    if (each == axis)
      state.addOperands(part.length);
    else if (!extent.isConstant())
      state.addOperands(lengthOf(b_, lines, each == 0 ? 0 : 2));
  }
  state.addTypes(type);
  return b_.create(state)->getResult(0);
}

Value SumTiles::leftOfTile(IRMapping &map) {
  if (rowLines_) {
    Value lines =
        cutAlong(b_, map.lookupOrDefault(rowLines_), 0, line_.position, line_.length, line_.extent);
    return reshaped(lines, sum_.product->getOperand(0).getDefiningOp(), 0, row_);
  }
  Value left = matrixOf(map.lookupOrDefault(sum_.product->getOperand(0)));
  return cutAlong(b_, left, 0, row_.position, row_.length, row_.extent);
}

Value SumTiles::rightOfTile(IRMapping &map) {
  if (!lines_)
    return cutAlong(b_, matrixOf(map.lookupOrDefault(sum_.product->getOperand(1))), 1,
                    column_.position, column_.length, column_.extent);
  Value lines =
      cutAlong(b_, map.lookupOrDefault(lines_), 1, line_.position, line_.length, line_.extent);
  return reshaped(lines, sum_.product->getOperand(1).getDefiningOp(), 1, column_);
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
    } else if (&op != sum_.cast && (op.getResult(0) != sum_.product->getOperand(1) || !lines_) &&
               (op.getResult(0) != sum_.product->getOperand(0) || !rowLines_)) {
      // The operands as matrices are made by the tile itself, from its lines; all else is cloned.
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
  Value loaded = loadWhole(b_, loc_, ref, arrayTypeOf(type.getElementType(), type.getExtents()));
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
