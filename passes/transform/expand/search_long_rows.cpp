// Searches along long rows on chips. A search goes along a row with the best so far and where it was, which pieces of a row on several
// cores would have to join. Where rows are few and long, the best element is found first, and then the first position that has it: both are
// folds, which `ptl-chunk` cuts into pieces for all cores.

#include "passes/transform/expand/search_long_rows.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/transform/combiners.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <limits>

using namespace mlir;

namespace ptl::ir {

/// Rows of this length, and not more than so many, are cut into pieces by the folds of every machine.
static constexpr int64_t kLongSearch = 16384, kFewSearches = 64;

namespace {
class LongSearch {
public:
  explicit LongSearch(Operation *op)
      : op_(op), x_(op->getOperand(0)), b_(op), loc_(op->getLoc()),
        axis_(rankOf(x_.getType()) - 1) {}
  bool match() const;
  void rewrite();

private:
  Value isWorthIt();
  Value make(llvm::StringRef name, Type elem, llvm::ArrayRef<Extent> extents, ValueRange operands);
  Value fold(llvm::StringRef name, Value x);
  Value number(Type elem, double value) { return numberOf(b_, loc_, elem, value); }
  Value inTwoFolds();

  Operation *op_;
  Value x_;
  OpBuilder b_;
  Location loc_;
  int64_t axis_;
};
} // namespace

/// A search along rows, outside of grids, of which no schedule says anything.
bool LongSearch::match() const {
  llvm::ArrayRef<Extent> extents = extentsOf(x_.getType());
  auto axis = op_->getAttrOfType<IntegerAttr>("axis");
  if (extents.empty() || op_->getParentOfType<ParallelOp>() || attrs::task.of(op_) ||
      attrs::cores.of(op_) || attrs::split.isOn(op_) ||
      (axis ? axis.getInt() != axis_ : axis_ != 0))
    return false;
  const Extent &row = extents.back();
  int64_t most = row.isConstant() ? row.length : row.capacity;
  return most == Extent::kUnknown || most >= kLongSearch;
}

/// Whether rows are few and long; a constant where lengths are known.
Value LongSearch::isWorthIt() {
  auto number = [&](int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); };
  Value rows = number(1);
  for (int64_t axis = 0; axis < axis_; ++axis)
    rows = b_.createOrFold<arith::MulIOp>(loc_, rows, lengthOf(b_, x_, axis));
  Value few =
      b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, rows, number(kFewSearches));
  Value isLong = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge,
                                                lengthOf(b_, x_, axis_), number(kLongSearch));
  return b_.createOrFold<arith::AndIOp>(loc_, few, isLong);
}

Value LongSearch::make(llvm::StringRef name, Type elem, llvm::ArrayRef<Extent> extents,
                       ValueRange operands) {
  return makeOp(b_, loc_, name, arrayTypeOf(elem, extents), operands);
}

/// Along rows, which keep an axis of one element.
Value LongSearch::fold(llvm::StringRef name, Value x) {
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  extents.back() = Extent::constant(1);
  Value folded = make(name, elementTypeOf(x.getType()), extents, x);
  folded.getDefiningOp()->setAttr("axes", b_.getDenseI64ArrayAttr(axis_));
  return folded;
}

/// The first position of the best element. A NaN is the best one of all, and no number is equal to it.
Value LongSearch::inTwoFolds() {
  bool isLargest = isa<ReduceArgmaxOp>(op_);
  llvm::StringRef best =
      isLargest ? ReduceMaxOp::getOperationName() : ReduceMinOp::getOperationName();
  Type elem = elementTypeOf(x_.getType()), flag = b_.getI1Type();
  llvm::ArrayRef<Extent> extents = extentsOf(x_.getType());
  Value isBest;
  if (isa<FloatType>(elem)) {
    double worst = isLargest ? -std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::infinity();
    Type real = b_.getF32Type();
    Value isNan = make(IsNanOp::getOperationName(), flag, extents, x_);
    Value nans = make(SelectOp::getOperationName(), real, extents,
                      {isNan, number(real, 1), number(real, 0)});
    Value hasNan = fold(ReduceMaxOp::getOperationName(), nans);
    Value numbers =
        make(SelectOp::getOperationName(), elem, extents, {isNan, number(elem, worst), x_});
    Value most = fold(best, numbers);
    isBest = make(SelectOp::getOperationName(), flag, extents,
                  {make(GtOp::getOperationName(), flag, extentsOf(hasNan.getType()),
                        {hasNan, number(real, 0)}),
                   isNan, make(EqOp::getOperationName(), flag, extents, {x_, most})});
  } else {
    isBest = make(EqOp::getOperationName(), flag, extents, {x_, fold(best, x_)});
  }
  llvm::SmallVector<Value> range{b_.create<arith::ConstantIndexOp>(loc_, 0)};
  if (!extents.back().isConstant())
    range.push_back(lengthOf(b_, x_, axis_));
  Type position = b_.getI32Type();
  Value positions = make(IndexOp::getOperationName(), position, extents.back(), range);
  Value none = b_.create<arith::ConstantOp>(
      loc_, b_.getIntegerAttr(position, std::numeric_limits<int32_t>::max()));
  Value first = fold(ReduceMinOp::getOperationName(), make(SelectOp::getOperationName(), position,
                                                           extents, {isBest, positions, none}));
  if (first.getType() == op_->getResult(0).getType())
    return first;
  // Without an axis, the result of the only row is a number.
  return b_.create<SliceOp>(loc_, op_->getResult(0).getType(), first,
                            ValueRange(b_.create<arith::ConstantIndexOp>(loc_, 0)),
                            ValueRange(b_.create<arith::ConstantIndexOp>(loc_, 1)), ValueRange(),
                            Value(), b_.getDenseI64ArrayAttr(0));
}

void LongSearch::rewrite() {
  Value worthIt = isWorthIt();
  std::optional<int64_t> known = getConstantIntValue(worthIt);
  if (known && *known == 0)
    return;
  Value result = op_->getResult(0);
  if (known) {
    result.replaceAllUsesWith(inTwoFolds());
    op_->erase();
    return;
  }
  auto branch = b_.create<scf::IfOp>(loc_, result.getType(), worthIt, /*withElseRegion=*/true);
  result.replaceAllUsesWith(branch.getResult(0));
  b_.setInsertionPointToStart(branch.thenBlock());
  b_.create<scf::YieldOp>(loc_, inTwoFolds());
  b_.setInsertionPointToStart(branch.elseBlock());
  auto yield = b_.create<scf::YieldOp>(loc_, result);
  op_->moveBefore(yield);
}

void searchLongRows(func::FuncOp function) {
  llvm::SmallVector<Operation *> searches;
  function.walk([&](Operation *op) {
    if (isa<ReduceArgmaxOp, ReduceArgminOp>(op) && LongSearch(op).match())
      searches.push_back(op);
  });
  for (Operation *op : searches)
    LongSearch(op).rewrite();
}

} // namespace ptl::ir
