// Searches among floats on chips. A NaN counts as the largest number for `argmax` and as the smallest for `argmin`, but the
// instructions compare as `>` and `<` do, for which a NaN is neither. So numbers and NaNs are searched apart.

#include "passes/transform/expand/search_numbers.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/ptl_dialect.h"
#include "passes/transform/combiners.h"
#include "passes/transform/groups/group_schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;

namespace ptl::ir {

/// How far back `isNumber` looks for where a value comes from.
static constexpr int kMostSteps = 8;

static bool isNumber(Value value, int steps = kMostSteps);

/// What a value is without the casts that say where it lies.
static Value sourceOf(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast->getOperand(0);
  return value;
}

/// `select(isnan(x), a, x)` with a number `a`: what this file makes, and what somebody may have written.
static bool replacesNan(SelectOp select, int steps) {
  auto test = sourceOf(select.getOperand(0)).getDefiningOp<IsNanOp>();
  return test && sourceOf(test->getOperand(0)) == sourceOf(select.getOperand(2)) &&
         isNumber(select.getOperand(1), steps);
}

/// Whether no element is NaN, as far as the operations before show it.
static bool isNumber(Value value, int steps) {
  FloatAttr constant;
  if (!isa<FloatType>(elementTypeOf(value.getType())))
    return true;
  if (matchPattern(value, m_Constant(&constant)))
    return !constant.getValue().isNaN();
  Operation *op = sourceOf(value).getDefiningOp();
  if (!op || steps == 0)
    return false;
  auto areNumbers = [&](ValueRange operands) {
    return llvm::all_of(operands, [&](Value each) { return isNumber(each, steps - 1); });
  };
  if (auto select = dyn_cast<SelectOp>(op))
    return replacesNan(select, steps - 1) || areNumbers(op->getOperands().drop_front());
  // These give elements of their operands, or elements that differ from them by their signs.
  if (isa<ConvertOp, AbsOp, NegOp, MaxOp, MinOp, TransposeOp, NewAxisOp, BroadcastOp>(op))
    return areNumbers(op->getOperand(0)) &&
           (!isa<MaxOp, MinOp>(op) || areNumbers(op->getOperand(1)));
  return false;
}

namespace {
class Search {
public:
  explicit Search(Operation *op)
      : op_(op), b_(op), loc_(op->getLoc()), axis_(op->getAttrOfType<IntegerAttr>("axis")) {}
  void splitNumbersFromNans();

private:
  Value number(Type elem, double value) { return numberOf(b_, loc_, elem, value); }
  /// With the shape of `like`.
  Value make(llvm::StringRef name, Type elem, Type like, ValueRange operands) {
    return makeOp(b_, loc_, name, withElements(like, elem), operands);
  }
  Type withElements(Type like, Type elem) const {
    auto array = dyn_cast<ArrayType>(like);
    return array ? arrayTypeOf(elem, array.getExtents()) : elem;
  }
  Value select(Value condition, Value a, Value b) {
    return make(SelectOp::getOperationName(), elementTypeOf(a.getType()), condition.getType(),
                {condition, a, b});
  }
  Value largest(Value x);
  Value searched(llvm::StringRef name, Value x);

  Operation *op_;
  OpBuilder b_;
  Location loc_;
  IntegerAttr axis_; ///< null: among all elements
};
} // namespace

/// Along the axis of the search.
Value Search::largest(Value x) {
  OperationState state(loc_, ReduceMaxOp::getOperationName());
  state.addOperands(x);
  if (axis_)
    state.addAttribute("axes", b_.getDenseI64ArrayAttr(axis_.getInt()));
  state.addTypes(withElements(op_->getResult(0).getType(), elementTypeOf(x.getType())));
  return b_.create(state)->getResult(0);
}

Value Search::searched(llvm::StringRef name, Value x) {
  OperationState state(loc_, name);
  state.addOperands(x);
  if (axis_)
    state.addAttribute("axis", axis_);
  state.addTypes(op_->getResult(0).getType());
  return b_.create(state)->getResult(0);
}

void Search::splitNumbersFromNans() {
  Value x = op_->getOperand(0);
  Type elem = elementTypeOf(x.getType());
  bool isLargest = isa<ReduceArgmaxOp>(op_);
  double infinity = std::numeric_limits<double>::infinity();
  Value isNan = make(IsNanOp::getOperationName(), b_.getI1Type(), x.getType(), x);
  // Rows are searched in the type that the numbers have, columns in `f32`, for which there is an instruction.
  bool isAlongRows = !axis_ || axis_.getInt() == rankOf(x.getType()) - 1;
  Type flag = isAlongRows && (elem.isF16() || elem.isF32()) ? elem : b_.getF32Type();
  Value nans = select(isNan, number(flag, 1), number(flag, 0));
  // What stands for a NaN loses against every number, and ties with none before it.
  Value numbers = select(isNan, number(elem, isLargest ? -infinity : infinity), x);
  Value hasNan = make(GtOp::getOperationName(), b_.getI1Type(), op_->getResult(0).getType(),
                      {largest(nans), number(flag, 0)});
  Value position = select(hasNan, searched(ReduceArgmaxOp::getOperationName(), nans),
                          searched(op_->getName().getStringRef(), numbers));
  op_->getResult(0).replaceAllUsesWith(position);
  op_->erase();
}

void searchNumbers(func::FuncOp function) {
  llvm::SmallVector<Operation *> searches;
  function.walk([&](Operation *op) {
    if (isa<ReduceArgmaxOp, ReduceArgminOp>(op) && !isNumber(op->getOperand(0)))
      searches.push_back(op);
  });
  for (Operation *op : searches)
    keepingMarks(op, [&] { Search(op).splitNumbersFromNans(); });
}

} // namespace ptl::ir
