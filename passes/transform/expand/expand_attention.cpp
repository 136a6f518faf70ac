// Softmax of a product and the product behind it, of whole arrays: a grid over blocks of rows, in which
// a loop goes along blocks of columns with a running maximum and a running sum per row. The scores
// stay on chip, where otherwise three kernels write and read them.
//
// Where rows are finite, values are the same up to rounding: `online_softmax.cpp` says why, and why
// a row of `-inf`, with `inf` or with NaN is NaN as it was. What is accumulated cannot overflow: sums
// of weights that are at most 1 and elements of f16 are far from it in f32, and for other types
// weights are divided by the running sum at once. Where `v` holds `inf`, results that it reaches are
// `inf` or NaN as they were, but which of these depends on whether a weight is 0.

#include "passes/transform/expand/expand_attention.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/groups/group_schedule.h"
#include "passes/transform/groups/product_tiles.h"
#include "passes/transform/make_grid.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/softmax_parts.h"
#include "passes/transform/whole_storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;

namespace ptl::ir {

namespace {

size_t numberOfAxes(Value value) {
  auto type = dyn_cast<ArrayType>(value.getType());
  return type ? type.getExtents().size() : 0;
}

/// One softmax with its products.
class Attention {
public:
  Attention(MatmulOp product, const Machine &machine, int64_t halvings, unsigned number)
      : machine_(machine), halvings_(halvings), number_(number), b_(product),
        loc_(block::withoutName(product.getLoc())) {
    parts_.product = product;
  }

  bool match();
  void rewrite();

private:
  /// Rows of a tile, the longest head and the most columns of a block, and the fewest columns of a block.
  static constexpr int64_t kRows = 128, kLongest = 256, kLeastColumns = 64;
  /// The bound of lengths that nothing bounds: beyond it, a branch leaves the scores in memory.
  static constexpr int64_t kBound = 128;

  bool findRoot();
  bool findScores(Value value);
  bool hasTypes();
  bool isInSchedule();
  bool chooseTiles();
  Value isWorthwhile();
  Value boundedLength(Value value, const Extent &extent);
  void makeGrid(Value ref);

  Extent named(const char *what, int64_t bound) {
    return Extent::named(b_.getStringAttr("a" + std::to_string(number_) + what), bound);
  }
  Value constant(int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); }
  Value number(double value) {
    return b_.create<arith::ConstantOp>(loc_, b_.getF32FloatAttr(static_cast<float>(value)));
  }
  Value binary(llvm::StringRef name, Value a, Value b);
  Value filled(llvm::ArrayRef<Extent> extents, Value value);
  Value firstSum(Value allColumns);
  Value operandBox(Value value, bool cutsRows, Value offset, Value length, const Extent &extent,
                   const Extent &whole, Value wholeLength);
  Value scoresOf(Value value, llvm::DenseMap<Value, Value> &known);
  Value positionsOf(Value value);
  llvm::SmallVector<Value> next(ValueRange before);
  Value finish(Value sum, Value product);

  const Machine &machine_;
  int64_t halvings_;
  unsigned number_;
  OpBuilder b_;
  Location loc_;
  SoftmaxParts parts_;
  MatmulOp first_;            ///< the product that scores are computed from
  DivOp division_;            ///< by the sum behind the product, if weights are not divided
  Operation *root_ = nullptr; ///< makes what is stored
  size_t axes_ = 0;           ///< of the result; all but two are leading ones
  int64_t tileRows_ = 0, tileColumns_ = 0;
  bool dividesAtOnce_ = false; ///< weights by the running sum
  // In the grid.
  llvm::SmallVector<Value> leading_; ///< positions along the leading axes
  Value row_, rowCount_, column_, columnCount_, widthLength_, depthLength_, query_;
  Extent rows_, columns_, depth_, width_;
};

} // namespace

// ---- what is recognised -------------------------------------------------------------------------

/// Finds the operation that all is fused into: the product, or the division or conversion that follows it.
bool Attention::findRoot() {
  root_ = parts_.product;
  // What is divided behind the product is the only use of the product and of the sum, since neither is there in memory any more.
  if (!parts_.quotient) {
    if (!root_->hasOneUse() || !parts_.sum->getResult(0).hasOneUse())
      return false;
    division_ = dyn_cast<DivOp>(*root_->getUsers().begin());
    if (!division_ || division_->getOperand(0) != root_->getResult(0) ||
        division_->getOperand(1) != parts_.sum->getResult(0))
      return false;
    root_ = division_;
  }
  if (root_->getResult(0).hasOneUse())
    if (auto convert = dyn_cast<ConvertOp>(*root_->getUsers().begin());
        convert && isa<FloatType>(elementTypeOf(convert.getType())))
      root_ = convert;
  return root_->getBlock() == parts_.product->getBlock();
}

/// From the scores back: element by element from one product, and from what is loaded.
bool Attention::findScores(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != parts_.product->getBlock() || numberOfAxes(value) == 0)
    return true;
  if (auto product = dyn_cast<MatmulOp>(op)) {
    // Scores may be the product itself, which the maximum and the difference read.
    bool isAlone = value == parts_.scores || value.hasOneUse();
    if (first_ || !isAlone || numberOfAxes(value) != axes_)
      return false;
    first_ = product;
    return true;
  }
  if (isElementwise(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return findScores(operand); });
  return !isCostly(op);
}

/// What the cube core multiplies, and sums in f32.
bool Attention::hasTypes() {
  auto isReal = [](Value value) { return isa<FloatType>(elementTypeOf(value.getType())); };
  return elementTypeOf(parts_.scores.getType()).isF32() &&
         elementTypeOf(parts_.sum.getType()).isF32() &&
         elementTypeOf(parts_.product.getType()).isF32() && isReal(first_->getOperand(0)) &&
         isReal(parts_.product.getOperand(1)) && isProductOf(parts_.product, machine_) &&
         isProductOf(first_, machine_);
}

/// Whether a schedule says how some of it is computed.
bool Attention::isInSchedule() {
  for (Operation *op :
       {first_.getOperation(), parts_.maximum.getOperation(), parts_.difference.getOperation(),
        parts_.exponential, parts_.sum.getOperation(), parts_.product.getOperation(), root_})
    // A task of its own would be a kernel of its own.
    if (isScheduled(op) || attrs::task.of(op) != attrs::task.of(root_))
      return true;
  return parts_.quotient && (attrs::tile.of(parts_.quotient) || attrs::split.isOn(parts_.quotient));
}

/// Rows and columns of a tile, as far as there is room for the operands and what is accumulated.
bool Attention::chooseTiles() {
  // Tiles are named by the role of an axis, so the axes have to be different ones. The bound of 256
  // keeps a row of queries, a tile of keys or values and what is accumulated in the buffers of the
  // cube.
  const Extent &contracted = extentsOf(first_->getOperand(0).getType()).back(),
               &width = extentsOf(parts_.product.getType()).back(),
               &rows = extentsOf(parts_.product.getType())[axes_ - 2],
               &columns = extentsOf(parts_.scores.getType()).back();
  if (rows.isOne() || columns.isOne() || contracted == columns || width == columns)
    return false;
  // A length without a constant gets a new name with its bound: the name of the array's length has none.
  auto bounded = [&](const Extent &extent, const char *what) {
    return extent.isConstant()
               ? extent
               : named(what, extent.capacity == Extent::kUnknown ? kBound : extent.capacity);
  };
  // A branch for lengths that nothing bounds is for products that leave the cube core waiting, which
  // those of f32 do not.
  bool isNarrow = elementTypeOf(first_->getOperand(0).getType()).getIntOrFloatBitWidth() == 16;
  auto isOpen = [](const Extent &extent) { return extent.capacity == Extent::kUnknown; };
  if (!isNarrow && (isOpen(contracted) || isOpen(width)))
    return false;
  depth_ = bounded(contracted, ".depth");
  width_ = bounded(width, ".width");
  int64_t longest = std::max(depth_.capacity, width_.capacity);
  if (std::min(depth_.capacity, width_.capacity) < 1 || longest > kLongest)
    return false;
  tileRows_ = rows.isConstant() ? std::min(kRows, roundUp(rows.length, int64_t(32))) : kRows;
  // Wider heads leave room for fewer columns; 64 keeps tiles whole numbers of boxes.
  tileColumns_ = std::min<int64_t>(kLongest, kLongest * 128 / longest / 64 * 64) >> halvings_;
  if (columns.isConstant())
    tileColumns_ = std::min(tileColumns_, roundUp(columns.length, int64_t(16)));
  return tileColumns_ >=
         std::min<int64_t>(
             kLeastColumns,
             roundUp(columns.isConstant() ? columns.length : kLeastColumns, int64_t(16)));
}

bool Attention::match() {
  // Elements cross between the cores through global memory, where a tile of scores has room.
  if (machine_.exchange.throughBuffer || parts_.product->getParentOfType<ParallelOp>() ||
      !parts_.find())
    return false;
  axes_ = numberOfAxes(parts_.product);
  if (axes_ < 2 || numberOfAxes(parts_.scores) != axes_ || !findRoot() ||
      !findScores(parts_.scores) || !first_ || numberOfAxes(first_->getOperand(0)) != axes_ ||
      numberOfAxes(first_->getOperand(1)) < 2 || numberOfAxes(parts_.product.getOperand(1)) < 2 ||
      !hasTypes() || isInSchedule())
    return false;
  // Elements of f16 are too small for an accumulator of f32 to overflow; larger ones might, unless weights are divided before.
  dividesAtOnce_ = !elementTypeOf(parts_.product.getOperand(1).getType()).isF16();
  return chooseTiles();
}

// ---- parts of arrays ----------------------------------------------------------------------------

Value Attention::binary(llvm::StringRef name, Value a, Value b) {
  return makeOp(b_, loc_, name, a.getType(), {a, b});
}

Value Attention::filled(llvm::ArrayRef<Extent> extents, Value value) {
  llvm::SmallVector<Value> operands;
  for (const Extent &extent : extents)
    if (!extent.isConstant())
      operands.push_back(extent == rows_ ? rowCount_ : widthLength_);
  operands.push_back(value);
  auto type = arrayTypeOf(b_.getF32Type(), extents);
  return b_.create<FullOp>(loc_, TypeRange(type), operands)->getResult(0);
}

/// The part of an operand of a product that this point of the grid has: its rows or its columns are
/// cut. Axes that were exchanged before are exchanged behind.
Value Attention::operandBox(Value value, bool cutsRows, Value offset, Value length,
                            const Extent &extent, const Extent &whole, Value wholeLength) {
  size_t rank = numberOfAxes(value);
  llvm::SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  if (auto turned = value.getDefiningOp<TransposeOp>()) {
    order.assign(turned.getAxes().begin(), turned.getAxes().end());
    value = turned.getOperand();
  }
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  llvm::SmallVector<Value> offsets(rank), lengths(rank);
  llvm::SmallVector<Extent> kept(rank);
  llvm::SmallVector<int64_t> dropped;
  for (size_t axis = 0; axis < rank; ++axis) {
    auto from = static_cast<size_t>(order[axis]);
    bool isLeading = axis + 2 < rank, isCut = !isLeading && (axis + 2 == rank) == cutsRows;
    kept[from] = isCut ? extent : whole;
    if (isLeading)
      dropped.push_back(static_cast<int64_t>(from));
    offsets[from] = isCut                                 ? offset
                    : isLeading && !extents[from].isOne() ? leading_[axis + axes_ - rank]
                                                          : constant(0);
    lengths[from] = isCut ? length : isLeading ? constant(1) : wholeLength;
  }
  llvm::sort(dropped);
  llvm::SmallVector<Extent> own;
  for (size_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
      own.push_back(kept[axis]);
  auto typeOf = [&](llvm::ArrayRef<Extent> extents) {
    return arrayTypeOf(elementTypeOf(value.getType()), extents);
  };
  Value part = b_.create<SliceOp>(loc_, typeOf(own), value, offsets, lengths, ValueRange(), Value(),
                                  b_.getDenseI64ArrayAttr(dropped));
  // The part has the axes of memory in their order. Where the operand exchanges the last two, so
  // does the part.
  if (order[rank - 2] < order[rank - 1])
    return part;
  std::swap(own[0], own[1]);
  return b_.create<TransposeOp>(loc_, typeOf(own), part, b_.getDenseI64ArrayAttr({1, 0}));
}

/// The positions along rows or columns that a value consists of, made anew for this point; null if it
/// is something else.
Value Attention::positionsOf(Value value) {
  size_t rank = numberOfAxes(value);
  // Transposes and new axes in between only say along which axis the positions run, which is
  // followed back to the source.
  llvm::SmallVector<size_t> axes = llvm::to_vector(llvm::seq<size_t>(0, rank)); // of `value`
  for (;;) {
    if (auto turned = value.getDefiningOp<TransposeOp>()) {
      llvm::SmallVector<size_t> own(axes.size());
      for (auto [to, from] : llvm::enumerate(turned.getAxes()))
        own[static_cast<size_t>(from)] = axes[to];
      axes = own;
      value = turned.getOperand();
    } else if (auto added = value.getDefiningOp<NewAxisOp>()) {
      llvm::SmallVector<size_t> own;
      for (auto [axis, of] : llvm::enumerate(axes))
        if (!llvm::is_contained(added.getAxes(), static_cast<int64_t>(axis)))
          own.push_back(of);
      axes = own;
      value = added.getSource();
    } else {
      break;
    }
  }
  auto index = value.getDefiningOp<IndexOp>();
  // Positions are loop-free to make, and a part of the whole array of them would be stored first.
  if (!index || axes.size() != 1 || rank > 2)
    return {};
  bool isRow = axes[0] + 2 == rank;
  OperationState state(loc_, IndexOp::getOperationName());
  Value start = b_.createOrFold<arith::AddIOp>(loc_, index->getOperand(0), isRow ? row_ : column_);
  state.addOperands({start, isRow ? rowCount_ : columnCount_});
  llvm::SmallVector<Extent> extents{isRow ? rows_ : columns_};
  auto typeOf = [&] { return arrayTypeOf(elementTypeOf(value.getType()), extents); };
  state.addTypes(typeOf());
  Value made = b_.create(state)->getResult(0);
  if (rank == 1)
    return made;
  extents.insert(isRow ? extents.end() : extents.begin(), Extent::constant(1));
  return b_.create<NewAxisOp>(loc_, typeOf(), made, b_.getDenseI64ArrayAttr({isRow ? 1 : 0}));
}

/// The tile of a value from which scores are computed; one of one row or column is for all.
Value Attention::scoresOf(Value value, llvm::DenseMap<Value, Value> &known) {
  size_t rank = numberOfAxes(value);
  if (rank == 0)
    return value;
  if (Value made = known.lookup(value))
    return made;
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<Extent> own;
  llvm::SmallVector<Value> offsets, lengths;
  llvm::SmallVector<int64_t> dropped;
  for (size_t axis = 0; axis < rank; ++axis) {
    size_t behind = rank - axis; // 1: the columns
    // A row or column for all scores stays as short as it is: the operations on tiles repeat it.
    bool isOne = extents[axis].isOne();
    if (behind > 2)
      dropped.push_back(static_cast<int64_t>(axis));
    else
      own.push_back(isOne ? Extent::constant(1) : behind == 2 ? rows_ : columns_);
    offsets.push_back(isOne         ? constant(0)
                      : behind > 2  ? leading_[axes_ - behind]
                      : behind == 2 ? row_
                                    : column_);
    lengths.push_back(isOne || behind > 2 ? constant(1) : behind == 2 ? rowCount_ : columnCount_);
  }
  auto type = arrayTypeOf(elementTypeOf(value.getType()), own);
  Value made;
  if (op == first_) {
    Value keys = operandBox(first_->getOperand(1), false, column_, columnCount_, columns_, depth_,
                            depthLength_);
    made = cloneWith(b_, op, {query_, keys}, type);
  } else if (op && op->getBlock() == parts_.product->getBlock() && isElementwise(op)) {
    // What is computed from the scores is computed again for each tile. Operations of other blocks
    // are loaded as they are, since their operands may not be known in the grid.
    llvm::SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scoresOf(operand, known));
    made = cloneWith(b_, op, operands, type);
  } else if (Value positions = positionsOf(value)) {
    made = positions;
  } else {
    made = b_.create<SliceOp>(loc_, type, value, offsets, lengths, ValueRange(), Value(),
                              b_.getDenseI64ArrayAttr(dropped));
  }
  return known[value] = made;
}

// ---- by blocks ----------------------------------------------------------------------------------

/// What a loop over blocks of columns carries, a block later: maximum, sum, product.
llvm::SmallVector<Value> Attention::next(ValueRange before) {
  llvm::SmallVector<Extent> column{rows_, Extent::constant(1)};
  auto typeOf = [&](llvm::ArrayRef<Extent> extents) {
    return arrayTypeOf(b_.getF32Type(), extents);
  };
  llvm::DenseMap<Value, Value> known;
  Value scores = scoresOf(parts_.scores, known);
  auto fold = [&](Operation *op, Value of) {
    Value made = cloneWith(b_, op, of, typeOf(column));
    // The only axis that is folded is the second of two here.
    made.getDefiningOp()->setAttr("axes", b_.getDenseI64ArrayAttr({1}));
    return made;
  };
  Value maximum = binary(MaxOp::getOperationName(), before[0], fold(parts_.maximum, scores));
  auto exponentialOf = [&](Value x) { return cloneWith(b_, parts_.exponential, x, x.getType()); };
  Value weights = exponentialOf(binary(SubOp::getOperationName(), scores, maximum));
  // What was summed so far belongs to the old maximum.
  Value factor = exponentialOf(binary(SubOp::getOperationName(), before[0], maximum));
  Value kept = binary(MulOp::getOperationName(), before[1], factor);
  Value sum = binary(AddOp::getOperationName(), kept, fold(parts_.sum, weights));
  if (dividesAtOnce_) {
    // The sum is 0 as long as all scores are `-inf`, else at least 1, since the largest one adds `exp(0)`.
    Value least = binary(MaxOp::getOperationName(), sum, number(1));
    weights = binary(DivOp::getOperationName(), weights, least);
    // The running product has been divided by the old sum. Multiplied by that and divided by the new one it fits the new weights.
    factor = binary(DivOp::getOperationName(), kept, least);
  }
  for (ConvertOp conversion : parts_.conversions)
    weights =
        cloneWith(b_, conversion, weights,
                  arrayTypeOf(elementTypeOf(conversion.getType()), extentsOf(weights.getType())));
  Value values = operandBox(parts_.product.getOperand(1), true, column_, columnCount_, columns_,
                            width_, widthLength_);
  Value product = cloneWith(b_, parts_.product, {weights, values}, before[2].getType());
  Value scaled = binary(MulOp::getOperationName(), before[2], factor);
  return {maximum, sum, binary(AddOp::getOperationName(), scaled, product)};
}

/// The result of a point from its sum and its product: 0 over 0 where all scores are `-inf`.
Value Attention::finish(Value sum, Value product) {
  if (dividesAtOnce_)
    sum = binary(DivOp::getOperationName(), sum, binary(MaxOp::getOperationName(), sum, number(1)));
  Value result = binary(DivOp::getOperationName(), product, sum);
  if (auto convert = dyn_cast<ConvertOp>(root_))
    result = cloneWith(b_, convert, result,
                       arrayTypeOf(elementTypeOf(convert.getType()), extentsOf(result.getType())));
  return result;
}

/// What the running sum begins with. Weights that are divided before the product are none where
/// there are no columns, so the product is 0; behind the product that would be 0 over 0.
Value Attention::firstSum(Value allColumns) {
  std::optional<int64_t> known = getConstantIntValue(allColumns);
  if (!parts_.quotient || (known && *known > 0))
    return number(0);
  Value isEmpty = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::eq, allColumns, constant(0));
  return b_.createOrFold<arith::SelectOp>(loc_, isEmpty, number(1), number(0));
}

/// The last length of a value, which has room: where nothing bounds it the branch around does, and the
/// kernel has to know that.
Value Attention::boundedLength(Value value, const Extent &extent) {
  Value length = lengthOf(b_, value, static_cast<int64_t>(numberOfAxes(value)) - 1);
  return extent.isConstant()
             ? length
             : b_.createOrFold<arith::MinSIOp>(loc_, length, constant(extent.capacity));
}

void Attention::makeGrid(Value ref) {
  OpBuilder::InsertionGuard guard(b_);
  llvm::SmallVector<Value> upper, steps;
  for (size_t axis = 0; axis + 1 < axes_; ++axis) {
    upper.push_back(lengthOf(b_, parts_.product, static_cast<int64_t>(axis)));
    steps.push_back(constant(axis + 2 < axes_ ? 1 : tileRows_));
  }
  auto last = static_cast<int64_t>(axes_) - 1;
  Value allColumns = lengthOf(b_, parts_.scores, last);
  widthLength_ = boundedLength(parts_.product, width_);
  depthLength_ = boundedLength(first_->getOperand(0), depth_);
  ParallelOp grid = openGrid(b_, loc_, upper, steps, loc_);
  llvm::SmallVector<Value> at(grid.getBody().getArguments());
  leading_.assign(at.begin(), at.end() - 1);
  auto part = [&](Value length, Value position, int64_t most) {
    Value rest = b_.createOrFold<arith::SubIOp>(loc_, length, position);
    return b_.createOrFold<arith::MinSIOp>(loc_, rest, constant(most));
  };
  row_ = at.back();
  rowCount_ = part(upper.back(), row_, tileRows_);
  rows_ = named(".rows", tileRows_);
  columns_ = named(".columns", tileColumns_);
  query_ = operandBox(first_->getOperand(0), true, row_, rowCount_, rows_, depth_, depthLength_);
  Extent one = Extent::constant(1);
  // The maximum begins at the lowest finite number, because -inf minus -inf is NaN.
  Value lowest = number(std::numeric_limits<float>::lowest());
  Value start[] = {filled({rows_, one}, lowest), filled({rows_, one}, firstSum(allColumns)),
                   filled({rows_, width_}, number(0))};
  auto loop = b_.create<scf::ForOp>(loc_, constant(0), allColumns, constant(tileColumns_),
                                    ValueRange(start));
  // Two stages let the next keys come while the present ones are multiplied.
  attrs::pipeline.set(loop, 2);
  {
    OpBuilder::InsertionGuard inLoop(b_);
    b_.setInsertionPointToStart(loop.getBody());
    column_ = loop.getInductionVar();
    columnCount_ = part(allColumns, column_, tileColumns_);
    b_.create<scf::YieldOp>(loc_, next(loop.getRegionIterArgs()));
  }
  Value result = finish(loop.getResult(1), loop.getResult(2));
  llvm::SmallVector<Value> lengths(leading_.size(), constant(1));
  lengths.append({rowCount_, widthLength_});
  at.push_back(constant(0));
  llvm::SmallVector<int64_t> dropped =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(leading_.size())));
  b_.create<StoreOp>(loc_, result, ref, at, lengths, ValueRange(), Value(),
                     b_.getDenseI64ArrayAttr(dropped), IntegerAttr(), StringAttr());
  b_.create<YieldOp>(loc_);
}

/// Whether the grid has points for a good part of the core groups, since whole rows of scores have
/// more tiles; and whether there is room.
Value Attention::isWorthwhile() {
  Value points = constant(1);
  for (size_t axis = 0; axis + 1 < axes_; ++axis) {
    Value length = lengthOf(b_, parts_.product, static_cast<int64_t>(axis));
    if (axis + 2 == axes_) {
      length = b_.createOrFold<arith::AddIOp>(loc_, length, constant(tileRows_ - 1));
      length = b_.createOrFold<arith::DivSIOp>(loc_, length, constant(tileRows_));
    }
    points = b_.createOrFold<arith::MulIOp>(loc_, points, length);
  }
  Value many =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, points,
                                     constant(std::max<int64_t>(coreGroupsOf(machine_) / 3, 1)));
  // Buffers need a bound. Where the type has none, the running program compares the length with the largest that fits.
  auto last = static_cast<int64_t>(axes_) - 1;
  for (auto [value, extent] : {std::pair<Value, Extent>{first_->getOperand(0), depth_},
                               {parts_.product->getResult(0), width_}}) {
    if (extentsOf(value.getType()).back().capacity != Extent::kUnknown)
      continue;
    Value fits = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle,
                                                lengthOf(b_, value, last), constant(kBound));
    many = b_.createOrFold<arith::AndIOp>(loc_, many, fits);
  }
  return many;
}

void Attention::rewrite() {
  // Lengths that are known decide here; others by a branch at the launch, whose other arm keeps
  // what was written.
  b_.setInsertionPointAfter(root_);
  Value whole = root_->getResult(0), many = isWorthwhile();
  std::optional<int64_t> known = getConstantIntValue(many);
  if (known && *known == 0)
    return;
  auto type = cast<ArrayType>(whole.getType());
  llvm::SmallVector<Value> named;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!type.getExtents()[static_cast<size_t>(axis)].isConstant())
      named.push_back(lengthOf(b_, parts_.product, axis));
  Value ref = allocateStorage(b_, loc_, type, named);
  if (known) {
    makeGrid(ref);
  } else {
    auto branch = b_.create<scf::IfOp>(loc_, many, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    makeGrid(ref);
    b_.setInsertionPointToStart(branch.elseBlock());
    storeWhole(b_, loc_, whole, ref);
    b_.setInsertionPointAfter(branch);
    Value made = loadWhole(b_, loc_, ref, type);
    // The arm for other lengths still stores what was computed as it was written.
    whole.replaceUsesWithIf(made, [&](OpOperand &use) {
      return !branch.getElseRegion().isAncestor(use.getOwner()->getParentRegion());
    });
    // Only that arm needs the scores as an array, so what makes them moves there and costs nothing
    // where the grid runs.
    moveWhatOnlyItNeeds(root_, branch.elseBlock());
    return;
  }
  whole.replaceAllUsesWith(loadWhole(b_, loc_, ref, type));
}

void makeAttentions(func::FuncOp function, const Machine &machine, int64_t halvings) {
  std::optional<MachineCosts> costs = findCosts(machine.name);
  if (!costs || !costs->known() || coreGroupsOf(machine) == 0)
    return;
  llvm::SmallVector<MatmulOp> products;
  function.walk([&](MatmulOp product) {
    if (product.getScales().empty())
      products.push_back(product);
  });
  unsigned number = 0;
  for (MatmulOp product : products)
    if (Attention found(product, machine, halvings, number); found.match()) {
      found.rewrite();
      ++number;
    }
}

} // namespace ptl::ir
