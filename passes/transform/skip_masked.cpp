// Columns that a mask by position hides from all rows of a tile are not computed: in a grid, the
// `softmax` of `select(row >= column, scores, -inf)` and the product behind it end at the last column
// that a row of the tile sees.
//
// Values stay the same up to the order of sums. A hidden column holds `-inf`, which changes no
// maximum; the difference to the maximum is `-inf` again, and its exponential 0, which changes no
// sum, and 0 over the sum is 0. Where the maximum is NaN or `-inf`, all of the row is NaN, with one
// column as with all, so one column always stays. In the product each hidden column adds 0 times a
// row of the right factor: 0, or NaN where an element is infinite or NaN. The sum of 0 times these
// rows is added, since it is just that.
#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/passes.h"
#include "passes/transform/narrow_axis.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

#include <limits>

namespace ptl::ir {
#define GEN_PASS_DEF_SKIPMASKED
#include "passes/passes.h.inc"
} // namespace ptl::ir

using namespace mlir;

namespace ptl::ir {
namespace {

/// The number of columns is a multiple of this, so that vectors are whole.
constexpr int64_t kColumnsAtOnce = 64;

size_t rankOfType(Type type) { return extentsOf(type).size(); }

/// Whether the axis is the last one of a value of rank 1 or more.
bool isAlongLast(Value value, const Extent &extent) {
  llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
  return isa<ArrayType>(value.getType()) && !extents.empty() && extents.back() == extent;
}

bool foldsLastAlone(Operation *op) {
  auto rank = static_cast<int64_t>(rankOfType(op->getOperand(0).getType()));
  llvm::SmallVector<int64_t> axes = foldedAxesOf(op);
  return axes.size() == 1 && axes.front() == rank - 1;
}

/// Numbers of rows, one per row of a tile, each one more than the one before.
struct RowNumbers {
  Value first, end; ///< as `index`; the end is one more than the last
  Value isExact;    ///< no number is outside of the type of elements; null: none can be
};

/// One mask, and what is computed from it.
class MaskedRows {
public:
  MaskedRows(SelectOp select, unsigned number)
      : select_(select), b_(select), loc_(select.getLoc()), number_(number) {}

  /// Whether all that uses the masked values may end at the last column that is seen.
  bool collect();
  bool rewrite();

private:
  /// What hidden columns of a value hold.
  enum class Hidden : uint8_t { MinusInfinity, Difference, Zero };

  bool matchMask();
  bool follow(Operation *user, Value value, Hidden hidden);
  std::optional<RowNumbers> rowNumbers(Value rows);
  std::optional<RowNumbers> shifted(Operation *op, const std::optional<RowNumbers> &rows);
  Value columnCount();
  Value restOf(MatmulOp product);

  SelectOp select_;
  OpBuilder b_;
  Location loc_;
  unsigned number_;
  Value rows_, columns_; ///< of the comparison
  bool seesOwn_ = false; ///< the column with the number of the row is seen
  Extent whole_, unseen_;
  Value length_, count_;                       ///< of columns: all, and those that stay
  llvm::MapVector<Operation *, Hidden> users_; ///< in the order of the program once sorted
  llvm::DenseMap<Value, Hidden> hidden_;
  Value maximum_;
};

} // namespace

bool MaskedRows::matchMask() {
  Operation *mask = select_.getOperand(0).getDefiningOp();
  if (!mask || mask->getNumOperands() != 2)
    return false;
  // `row >= column` and `column <= row` are the same mask.
  if (isa<GeOp, GtOp>(mask)) {
    rows_ = mask->getOperand(0);
    columns_ = mask->getOperand(1);
  } else if (isa<LeOp, LtOp>(mask)) {
    columns_ = mask->getOperand(0);
    rows_ = mask->getOperand(1);
  } else {
    return false;
  }
  seesOwn_ = isa<GeOp, LeOp>(mask);
  APFloat hiding(0.0f);
  // Only -inf disappears in the maximum and in the sum.
  if (!matchPattern(select_.getOperand(2), m_ConstantFloat(&hiding)) || !hiding.isInfinity() ||
      !hiding.isNegative())
    return false;
  // The columns are numbered from 0.
  Value columns = columns_;
  while (auto added = columns.getDefiningOp<NewAxisOp>()) {
    // New axes in front leave the columns along the last axis; one behind them would make rows of them.
    if (rankOfType(added.getType()) == 0 ||
        !isAlongLast(columns, extentsOf(added.getSource().getType()).back()))
      return false;
    columns = added.getSource();
  }
  auto index = columns.getDefiningOp<IndexOp>();
  if (!index || !matchPattern(index.getStart(), m_Zero()) || !isa<ArrayType>(rows_.getType()))
    return false;
  whole_ = extentsOf(index.getType()).back();
  llvm::ArrayRef<Extent> rows = extentsOf(rows_.getType());
  // Rows are a column of numbers with the last axis broadcast, so that each row hides its own
  // columns.
  return rows.size() >= 2 && rows.back().isOne() && isAlongLast(select_.getResult(), whole_) &&
         !whole_.isOne();
}

bool MaskedRows::follow(Operation *user, Value value, Hidden hidden) {
  // A user in another block may run more than once, and is not followed.
  if (user->getBlock() != select_->getBlock() || user->getNumResults() != 1)
    return false;
  auto record = [&](std::optional<Hidden> result) {
    users_.insert({user, hidden});
    if (result)
      hidden_[user->getResult(0)] = *result;
    return true;
  };
  // There must be one maximum, since the difference is to it.
  if (isa<ReduceMaxOp>(user) && hidden == Hidden::MinusInfinity && foldsLastAlone(user)) {
    if (maximum_)
      return false;
    maximum_ = user->getResult(0);
    return record(std::nullopt);
  }
  if (isa<SubOp>(user) && hidden == Hidden::MinusInfinity)
    // Subtracting anything else would give hidden columns other values than -inf.
    return maximum_ && user->getOperand(0) == value && user->getOperand(1) == maximum_ &&
           record(Hidden::Difference);
  if (isa<ExpOp, Exp2Op>(user) && hidden == Hidden::Difference)
    return record(Hidden::Zero);
  if (hidden != Hidden::Zero)
    return false;
  if (isa<ReduceSumOp>(user))
    return foldsLastAlone(user) && record(std::nullopt);
  if (isa<DivOp>(user)) {
    // Only a division by the row's own sum keeps hidden columns at 0.
    auto sum = user->getOperand(1).getDefiningOp<ReduceSumOp>();
    return user->getOperand(0) == value && sum && users_.contains(sum) && record(Hidden::Zero);
  }
  if (isa<ConvertOp>(user))
    return isa<FloatType>(elementTypeOf(user->getResult(0).getType())) && record(Hidden::Zero);
  auto product = dyn_cast<MatmulOp>(user);
  return product && product.getOperand(0) == value && product.getOperand(1) != value &&
         // The product has to have the hidden columns as its contracted axis, with a matrix on the
         // right.
         rankOfType(product.getOperand(1).getType()) >= 2 &&
         isa<FloatType>(elementTypeOf(product.getType())) && record(std::nullopt);
}

bool MaskedRows::collect() {
  if (!matchMask())
    return false;
  hidden_[select_.getResult()] = Hidden::MinusInfinity;
  bool any = false;
  // Users come in the order of the block, so that the maximum is known before the difference.
  for (Operation *op = select_->getNextNode(); op; op = op->getNextNode())
    for (Value operand : op->getOperands())
      if (auto found = hidden_.find(operand); found != hidden_.end()) {
        // An operation that has hidden values as two operands is met twice, and refused the second time.
        if (users_.contains(op) || !follow(op, operand, found->second))
          return false;
        any |= isa<MatmulOp>(op);
      }
  // All users have to be known, not only those in this block.
  for (const auto &[value, hidden] : hidden_)
    for (Operation *user : value.getUsers())
      if (!users_.contains(user)) // in a loop within the grid
        return false;
  return any;
}

std::optional<RowNumbers> MaskedRows::rowNumbers(Value rows) {
  Operation *op = rows.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto plus = [&](Value a, Value b) { return b_.createOrFold<arith::AddIOp>(loc_, a, b); };
  // Row numbers are an index vector, or derived from one by constant shifts and slices.
  if (auto index = dyn_cast<IndexOp>(op))
    return RowNumbers{index.getStart(), plus(index.getStart(), lengthOf(b_, rows, 0)), {}};
  if (auto added = dyn_cast<NewAxisOp>(op))
    return rankOfType(added.getSource().getType()) == 1 ? rowNumbers(added.getSource())
                                                        : std::nullopt;
  if (auto slice = dyn_cast<SliceOp>(op)) {
    if (!slice.getSteps().empty() || slice.getOutside() || !slice.getDropped().empty() ||
        slice.getOffsets().size() != 1)
      return std::nullopt;
    std::optional<RowNumbers> source = rowNumbers(slice.getSource());
    if (!source)
      return std::nullopt;
    Value first = plus(source->first, slice.getOffsets()[0]);
    return RowNumbers{first, plus(first, slice.getLengths()[0]), source->isExact};
  }
  if (!isa<AddOp, SubOp>(op) || isa<ArrayType>(op->getOperand(1).getType()))
    return std::nullopt;
  return shifted(op, rowNumbers(op->getOperand(0)));
}

/// Rows that a number is added to, or taken from: 32 bits may be too few for the result.
std::optional<RowNumbers> MaskedRows::shifted(Operation *op,
                                              const std::optional<RowNumbers> &rows) {
  Value number = op->getOperand(1);
  if (!rows || matchPattern(number, m_Zero()))
    return rows;
  // Positions have 32 bits; other types are not followed.
  if (!elementTypeOf(op->getResult(0).getType()).isInteger(32))
    return std::nullopt;
  Value shift = b_.createOrFold<arith::IndexCastOp>(loc_, b_.getIndexType(), number);
  auto moved = [&](Value row) -> Value {
    return isa<AddOp>(op) ? b_.createOrFold<arith::AddIOp>(loc_, row, shift)
                          : b_.createOrFold<arith::SubIOp>(loc_, row, shift);
  };
  RowNumbers result{moved(rows->first), moved(rows->end), {}};
  // Both ends are checked; the numbers between them fit as well.
  auto holds = [&](arith::CmpIPredicate predicate, Value row, int64_t bound) {
    return b_.createOrFold<arith::CmpIOp>(loc_, predicate, row,
                                          b_.create<arith::ConstantIndexOp>(loc_, bound));
  };
  constexpr int64_t kEnd = int64_t(std::numeric_limits<int32_t>::max()) + 1;
  Value fits = b_.createOrFold<arith::AndIOp>(
      loc_, holds(arith::CmpIPredicate::sge, result.first, std::numeric_limits<int32_t>::min()),
      holds(arith::CmpIPredicate::sle, result.end, kEnd));
  result.isExact = rows->isExact ? b_.createOrFold<arith::AndIOp>(loc_, rows->isExact, fits) : fits;
  return result;
}

/// Up to the last column that the last row sees, at least one; all where numbers are not exact.
Value MaskedRows::columnCount() {
  std::optional<RowNumbers> rows = rowNumbers(rows_);
  if (!rows)
    return {};
  length_ =
      lengthOf(b_, select_.getResult(), static_cast<int64_t>(rankOfType(select_.getType())) - 1);
  auto constant = [&](int64_t number) { return b_.create<arith::ConstantIndexOp>(loc_, number); };
  Value seen = seesOwn_ ? rows->end : b_.createOrFold<arith::SubIOp>(loc_, rows->end, constant(1));
  // The last row sees the most columns, so it bounds all rows of the tile.
  // At least one first, so that rounding up is of a positive number.
  Value least = b_.createOrFold<arith::MaxSIOp>(loc_, seen, constant(1));
  Value bounded = b_.createOrFold<arith::MinSIOp>(loc_, least, length_);
  Value units = b_.createOrFold<arith::DivUIOp>(
      loc_, b_.createOrFold<arith::AddIOp>(loc_, bounded, constant(kColumnsAtOnce - 1)),
      constant(kColumnsAtOnce));
  Value rounded = b_.createOrFold<arith::MulIOp>(loc_, units, constant(kColumnsAtOnce));
  Value count = b_.createOrFold<arith::MinSIOp>(loc_, rounded, length_);
  return rows->isExact ? b_.createOrFold<arith::SelectOp>(loc_, rows->isExact, count, length_)
                       : count;
}

/// What hidden columns add to a product: 0, or NaN where 0 times an element is that.
Value MaskedRows::restOf(MatmulOp product) {
  // The hidden columns of the left factor meet these rows of the right one.
  Value right = product.getOperand(1);
  size_t axis = rankOfType(right.getType()) - 2;
  Value length = b_.createOrFold<arith::SubIOp>(loc_, length_, count_);
  Value rest = cutAlong(b_, right, axis, count_, length, unseen_);
  Type element = elementTypeOf(right.getType());
  Value zero = b_.create<arith::ConstantOp>(loc_, b_.getFloatAttr(element, 0.0));
  // Zero times each element is summed, so that NaN and infinities come out as in the whole product.
  Value zeros = b_.create<MulOp>(loc_, rest.getType(), rest, zero);
  Value sum = makeOp<ReduceSumOp>(
      b_, loc_, withExtent(rest.getType(), axis, Extent::constant(1)), zeros,
      {b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(static_cast<int64_t>(axis)))});
  Type result = elementTypeOf(product.getType());
  if (result == element)
    return sum;
  auto type = arrayTypeOf(result, extentsOf(sum.getType()));
  return b_.create<ConvertOp>(loc_, type, sum, "even", /*saturate=*/false);
}

bool MaskedRows::rewrite() {
  count_ = columnCount();
  if (!count_)
    return false;
  // Hidden and visible parts have different names, since equal names stand for equal lengths.
  auto named = [&](const char *name) {
    return Extent::named(b_.getStringAttr(name + std::to_string(number_)), whole_.capacity);
  };
  AxisPart seen(b_, select_->getBlock(), {}, count_, named("seen."));
  unseen_ = named("unseen.");
  size_t last = rankOfType(select_.getType()) - 1;
  seen.of(select_.getResult(), last);
  // The users were recorded in the order of the block, so what an operation needs is made before it.
  for (auto &[op, hidden] : users_) {
    b_.setInsertionPoint(op);
    // Each user is made again on the visible part; users without that axis in the result replace
    // the original.
    Value result = op->getResult(0);
    llvm::SmallVector<Value> operands(op->getOperands());
    // `follow` accepts masked values as first operands only.
    operands[0] = seen.known(operands[0], rankOfType(operands[0].getType()) - 1);
    if (hidden_.contains(result)) {
      size_t axis = rankOfType(result.getType()) - 1;
      seen.set(result, axis,
               cloneWith(b_, op, operands, withExtent(result.getType(), axis, seen.extent())));
      continue;
    }
    auto product = dyn_cast<MatmulOp>(op);
    if (product)
      operands[1] = seen.of(operands[1], rankOfType(operands[1].getType()) - 2);
    Value replaced = cloneWith(b_, op, operands, result.getType());
    if (product)
      replaced = b_.create<AddOp>(loc_, result.getType(), replaced, restOf(product));
    result.replaceAllUsesWith(replaced);
  }
  return true;
}

namespace {

struct SkipMaskedPass : impl::SkipMaskedBase<SkipMaskedPass> {
  void runOnOperation() override {
    llvm::SmallVector<SelectOp> selects;
    getOperation()->walk([&](SelectOp select) {
      // Outside of grids there are no tiles of rows.
      if (isa<ParallelOp>(select->getParentOp()))
        selects.push_back(select);
    });
    unsigned number = 0;
    for (SelectOp select : selects)
      if (MaskedRows masked(select, number); masked.collect() && masked.rewrite())
        ++number;
  }
};

} // namespace
} // namespace ptl::ir
