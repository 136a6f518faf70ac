// Searches along long axes on chips. A search goes along an axis with the best so far and where it was, which pieces of the axis on
// several cores would have to join. Where the axis is long and tiles beside it are few, the best element is found first, and then the
// first position that has it: both are folds, which `ptl-chunk` cuts into pieces for all cores.

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

/// Rows of this length, and not more than so many, are cut into pieces by the folds of every machine. So
/// are columns, of which a tile has many.
static constexpr int64_t kLongSearch = 16384, kFewSearches = 64;
static constexpr int64_t kLongColumn = 1024, kFewColumns = 4096;

/// Without an axis, a search is one of a vector.
static int64_t searchedAxis(Operation *op) {
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  return axis ? axis.getInt() : 0;
}

namespace {
class LongSearch {
public:
  explicit LongSearch(Operation *op)
      : op_(op), x_(op->getOperand(0)), b_(op), loc_(op->getLoc()), axis_(searchedAxis(op)) {}
  bool match() const;
  void rewrite();

private:
  bool isAlongRows() const { return axis_ + 1 == rankOf(x_.getType()); }
  int64_t longest() const { return isAlongRows() ? kLongSearch : kLongColumn; }
  Value isWorthIt();
  Value positions();
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

/// A search along an axis, outside of grids, of which no schedule says anything.
bool LongSearch::match() const {
  llvm::ArrayRef<Extent> extents = extentsOf(x_.getType());
  if (extents.empty() || op_->getParentOfType<ParallelOp>() || attrs::task.of(op_) ||
      attrs::cores.of(op_) || attrs::split.isOn(op_) || (!op_->hasAttr("axis") && !isAlongRows()))
    return false;
  const Extent &searched = extents[static_cast<size_t>(axis_)];
  int64_t most = searched.isConstant() ? searched.length : searched.capacity;
  return most == Extent::kUnknown || most >= longest();
}

/// Whether the axis is long, and others have few positions; a constant where lengths are known.
Value LongSearch::isWorthIt() {
  auto number = [&](int64_t value) { return b_.create<arith::ConstantIndexOp>(loc_, value); };
  Value others = number(1);
  for (int64_t axis = 0; axis < rankOf(x_.getType()); ++axis)
    if (axis != axis_)
      others = b_.createOrFold<arith::MulIOp>(loc_, others, lengthOf(b_, x_, axis));
  Value few = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, others,
                                             number(isAlongRows() ? kFewSearches : kFewColumns));
  Value isLong = b_.createOrFold<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge,
                                                lengthOf(b_, x_, axis_), number(longest()));
  return b_.createOrFold<arith::AndIOp>(loc_, few, isLong);
}

Value LongSearch::make(llvm::StringRef name, Type elem, llvm::ArrayRef<Extent> extents,
                       ValueRange operands) {
  return makeOp(b_, loc_, name, arrayTypeOf(elem, extents), operands);
}

/// Along the axis, of which one element is kept.
Value LongSearch::fold(llvm::StringRef name, Value x) {
  llvm::SmallVector<Extent> extents(extentsOf(x.getType()));
  extents[static_cast<size_t>(axis_)] = Extent::constant(1);
  Value folded = make(name, elementTypeOf(x.getType()), extents, x);
  folded.getDefiningOp()->setAttr("axes", b_.getDenseI64ArrayAttr(axis_));
  return folded;
}

/// The positions along the axis, with axes of one element behind it.
Value LongSearch::positions() {
  llvm::SmallVector<Value> range{b_.create<arith::ConstantIndexOp>(loc_, 0)};
  const Extent &own = extentsOf(x_.getType())[static_cast<size_t>(axis_)];
  if (!own.isConstant())
    range.push_back(lengthOf(b_, x_, axis_));
  Value row = make(IndexOp::getOperationName(), b_.getI32Type(), own, range);
  if (isAlongRows())
    return row;
  llvm::SmallVector<Extent> extents{own};
  extents.append(static_cast<size_t>(rankOf(x_.getType()) - 1 - axis_), Extent::constant(1));
  return b_.create<NewAxisOp>(
      loc_, arrayTypeOf(b_.getI32Type(), extents), row,
      b_.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(1, extents.size()))));
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
    // A NaN must not decide which number is the best one, so it counts as the worst of all.
    double worst = isLargest ? -std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::infinity();
    Type real = b_.getF32Type();
    // Comparisons with NaN are false, so neither fold would find one; it has to be looked for by
    // itself.
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
  Type position = b_.getI32Type();
  // The smallest position is wanted, so those that do not count get the largest number.
  Value none = b_.create<arith::ConstantOp>(
      loc_, b_.getIntegerAttr(position, std::numeric_limits<int32_t>::max()));
  Value first = fold(ReduceMinOp::getOperationName(), make(SelectOp::getOperationName(), position,
                                                           extents, {isBest, positions(), none}));
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
  // The lengths say that cutting would not pay, and the search stays as it is.
  if (known && *known == 0)
    return;
  Value result = op_->getResult(0);
  if (known) {
    result.replaceAllUsesWith(inTwoFolds());
    op_->erase();
    return;
  }
  // Where only the lengths at run time decide, both forms are there.
  auto branch = b_.create<scf::IfOp>(loc_, result.getType(), worthIt, /*withElseRegion=*/true);
  result.replaceAllUsesWith(branch.getResult(0));
  b_.setInsertionPointToStart(branch.thenBlock());
  b_.create<scf::YieldOp>(loc_, inTwoFolds());
  b_.setInsertionPointToStart(branch.elseBlock());
  auto yield = b_.create<scf::YieldOp>(loc_, result);
  op_->moveBefore(yield);
}

void searchLongRows(func::FuncOp function) {
  // They are collected first, because rewriting changes what is walked.
  llvm::SmallVector<Operation *> searches;
  function.walk([&](Operation *op) {
    if (isa<ReduceArgmaxOp, ReduceArgminOp>(op) && LongSearch(op).match())
      searches.push_back(op);
  });
  for (Operation *op : searches)
    LongSearch(op).rewrite();
}

} // namespace ptl::ir
