// Softmax and the product behind it by blocks of columns, in a grid: each row of a tile has a
// running maximum and a running sum, and what has been accumulated of the product is rescaled where
// the maximum grows. A tile then has a block of columns in memory instead of whole rows.
//
// Where the result is taken, values are the same up to rounding. With `m` the maximum of a row,
// `exp(x - m)` is `exp(x - a) * exp(a - m)` for the maximum `a` of the first columns, and the sums
// and the product are linear in it. The rest is about values that are not finite:
// - A row of which all is `-inf` is NaN, as it was: the running maximum begins at the lowest finite
//   number, so that exponentials, and with them the sum, are 0, and the result is 0 over 0. For the
//   same reason columns of `-inf` at the beginning of a row change nothing.
// - A row with NaN or `inf` is NaN, as it was: an exponential is NaN, and so is the sum for good.
// - In all other rows the sum is positive and finite. Infinite or NaN elements of `v` give infinite
//   or NaN results, but which of these depends on whether a weight is 0; and what is accumulated
//   may overflow before it is divided. So a tile in which such a row has a result that is not
//   finite is computed as it was written.
#include "ir/dialect/make_op.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_info.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/source_place.h"
#include "passes/passes.h"
#include "passes/transform/narrow_axis.h"
#include "passes/transform/softmax_parts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

namespace ptl::ir {
#define GEN_PASS_DEF_ONLINESOFTMAX
#include "passes/passes.h.inc"
} // namespace ptl::ir

using namespace mlir;

namespace ptl::ir {
namespace {

/// How rows are gone along.
struct Columns {
  int64_t block;   ///< columns of a block
  int64_t longRow; ///< rows with more columns go by blocks
};

size_t numberOfAxes(Value value) { return extentsOf(value.getType()).size(); }

/// A product whose left factor is a softmax.
class SoftmaxProduct {
public:
  SoftmaxProduct(MatmulOp product, const Columns &columns, unsigned number)
      : sizes_(columns), number_(number), b_(product), loc_(block::withoutName(product.getLoc())) {
    at_.product = product;
  }

  bool match();
  void rewrite();

private:
  /// What a loop over blocks carries.
  struct Running {
    Value maximum, sum, product;
  };

  bool matchTypes();
  bool hasBlocks(Value value) const;
  Value filled(Type type, const llvm::APFloat &number, Value like);
  Value filled(Type type, double number, Value like);
  Value binary(StringRef name, Value a, Value b);
  Running start();
  Running next(const Running &before, Value position, Value length);
  llvm::SmallVector<Value> finish(const Running &end);
  scf::IfOp inBlocks();

  SoftmaxParts at_;
  Columns sizes_;
  unsigned number_;
  OpBuilder b_;
  Location loc_;
  Value length_;
};

} // namespace

// ---- what is recognised -------------------------------------------------------------------------

/// Rows are accumulated in the type in which they are summed, and may be long.
bool SoftmaxProduct::matchTypes() {
  Type element = elementTypeOf(at_.scores.getType());
  const Extent &columns = extentsOf(at_.scores.getType()).back();
  // Short rows fit into a tile as they are, and gain nothing from blocks.
  bool isShort = columns.isOne() ||
                 (columns.capacity != Extent::kUnknown && columns.capacity <= sizes_.longRow);
  return (element.isF32() || element.isF64()) && elementTypeOf(at_.sum.getType()) == element &&
         elementTypeOf(at_.product.getType()) == element &&
         numberOfAxes(at_.product.getOperand(1)) >= 2 && !isShort && hasBlocks(at_.scores);
}

/// Whether a block of the value is computed without the whole of it.
bool SoftmaxProduct::hasBlocks(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != at_.product->getBlock() || !isa<ArrayType>(value.getType()) ||
      extentsOf(value.getType()).back().isOne())
    return true;
  if (isElementwise(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return numberOfAxes(operand) == 0 || hasBlocks(operand);
    });
  // A product behind the scores is computed in blocks of columns, if its right factor is a matrix.
  if (isa<MatmulOp>(op))
    // With another user the whole product would be needed as well, and computed twice.
    return value.hasOneUse() && numberOfAxes(op->getOperand(1)) >= 2;
  return !isCostly(op);
}

bool SoftmaxProduct::match() {
  return isa<ParallelOp>(at_.product->getParentOp()) && at_.find() && matchTypes();
}

// ---- by blocks ----------------------------------------------------------------------------------

Value SoftmaxProduct::filled(Type type, const llvm::APFloat &number, Value like) {
  llvm::SmallVector<Value> operands;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(type)))
    if (!extent.isConstant())
      operands.push_back(lengthOf(b_, like, static_cast<int64_t>(axis)));
  auto element = cast<FloatType>(elementTypeOf(type));
  operands.push_back(b_.create<arith::ConstantOp>(loc_, b_.getFloatAttr(element, number)));
  return b_.create<FullOp>(loc_, TypeRange(type), operands)->getResult(0);
}

Value SoftmaxProduct::filled(Type type, double number, Value like) {
  return filled(type, FloatAttr::get(elementTypeOf(type), number).getValue(), like);
}

/// An operation on two values, of which the first has the shape of the result.
Value SoftmaxProduct::binary(StringRef name, Value a, Value b) {
  return makeOp(b_, loc_, name, a.getType(), {a, b});
}

SoftmaxProduct::Running SoftmaxProduct::start() {
  // The maximum begins at the lowest finite number rather than at -inf, since -inf minus -inf is
  // NaN.
  Type element = elementTypeOf(at_.maximum.getType());
  auto lowest =
      llvm::APFloat::getLargest(cast<FloatType>(element).getFloatSemantics(), /*Negative=*/true);
  return {filled(at_.maximum.getType(), lowest, at_.maximum),
          filled(at_.sum.getType(), 0.0, at_.sum), filled(at_.product.getType(), 0.0, at_.product)};
}

SoftmaxProduct::Running SoftmaxProduct::next(const Running &before, Value position, Value length) {
  // The name of the extent is unique to this product, since equal names stand for
  // equal lengths.
  AxisPart part(b_, at_.product->getBlock(), position, length,
                Extent::named(b_.getStringAttr("block." + std::to_string(number_)), sizes_.block));
  Value scores = part.of(at_.scores, numberOfAxes(at_.scores) - 1);
  Value largest = cloneWith(b_, at_.maximum, scores, at_.maximum.getType());
  Value maximum = binary(MaxOp::getOperationName(), before.maximum, largest);
  Value difference = binary(SubOp::getOperationName(), scores, maximum);
  Value weights = cloneWith(b_, at_.exponential, difference, difference.getType());
  // The factor exp(old maximum - new maximum) brings earlier sums to the new maximum.
  Value shift = binary(SubOp::getOperationName(), before.maximum, maximum);
  Value factor = cloneWith(b_, at_.exponential, shift, shift.getType());
  Value sum = cloneWith(b_, at_.sum, weights, at_.sum.getType());
  Value kept = binary(MulOp::getOperationName(), before.sum, factor);
  // Weights are converted as the whole matrix was, so that the product has the same operand type.
  for (ConvertOp conversion : at_.conversions)
    weights =
        cloneWith(b_, conversion, weights,
                  withExtent(conversion.getType(), numberOfAxes(at_.scores) - 1, part.extent()));
  Value right = at_.product.getOperand(1);
  Value product = cloneWith(b_, at_.product, {weights, part.of(right, numberOfAxes(right) - 2)},
                            at_.product.getType());
  Value scaled = binary(MulOp::getOperationName(), before.product, factor);
  return {maximum, binary(AddOp::getOperationName(), kept, sum),
          binary(AddOp::getOperationName(), scaled, product)};
}

/// Whether the results are taken, and the results. Rows whose sum is not positive are NaN.
llvm::SmallVector<Value> SoftmaxProduct::finish(const Running &end) {
  auto truthFor = [&](Value value) {
    return arrayTypeOf(b_.getI1Type(), extentsOf(value.getType()));
  };
  Value zero =
      b_.create<arith::ConstantOp>(loc_, b_.getFloatAttr(elementTypeOf(end.sum.getType()), 0.0));
  // Only rows with a positive sum are compared; the others are NaN either way.
  Value counts =
      b_.create<GtOp>(loc_, TypeRange(truthFor(end.sum)), ValueRange{end.sum, zero})->getResult(0);
  auto where = [&](Value value, Value otherwise) {
    return b_
        .create<SelectOp>(loc_, TypeRange(value.getType()), ValueRange{counts, value, otherwise})
        ->getResult(0);
  };
  Value result = end.product, sum = end.sum;
  if (at_.quotient) {
    result = binary(DivOp::getOperationName(), end.product, end.sum);
  } else {
    FloatAttr notANumber = b_.getFloatAttr(elementTypeOf(sum.getType()), std::nan(""));
    Value none = b_.create<arith::ConstantOp>(loc_, notANumber);
    result = where(result, none);
    sum = where(sum, none);
  }
  Value shown = where(result, zero);
  Value finite = b_.create<IsFiniteOp>(loc_, TypeRange(truthFor(shown)), shown)->getResult(0);
  Value all = b_.create<ReduceAllOp>(loc_, TypeRange(b_.getI1Type()), finite)->getResult(0);
  return at_.quotient ? llvm::SmallVector<Value>{all, result}
                      : llvm::SmallVector<Value>{all, result, sum};
}

/// Long rows by blocks; what comes out says first whether it is to be taken.
scf::IfOp SoftmaxProduct::inBlocks() {
  length_ = lengthOf(b_, at_.scores, static_cast<int64_t>(numberOfAxes(at_.scores)) - 1);
  auto constant = [&](int64_t number) { return b_.create<arith::ConstantIndexOp>(loc_, number); };
  // The choice between blocks and whole rows is made at run time, since lengths may be unknown.
  Value isLong =
      b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sgt, length_, constant(sizes_.longRow));
  llvm::SmallVector<Type> types{b_.getI1Type(), at_.product.getType()};
  if (!at_.quotient)
    types.push_back(at_.sum.getType());
  auto branch = b_.create<scf::IfOp>(loc_, types, isLong, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.elseBlock());
  // The other arm only has to have values of the right types, which nobody takes.
  Running none = start();
  llvm::SmallVector<Value> nothing{b_.create<arith::ConstantOp>(loc_, b_.getBoolAttr(false)),
                                   none.product};
  if (!at_.quotient)
    nothing.push_back(none.sum);
  b_.create<scf::YieldOp>(loc_, nothing);
  b_.setInsertionPointToStart(branch.thenBlock());
  Running first = start();
  auto loop = b_.create<scf::ForOp>(loc_, constant(0), length_, constant(sizes_.block),
                                    ValueRange{first.maximum, first.sum, first.product});
  b_.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  Value rest = b_.createOrFold<arith::SubIOp>(loc_, length_, position);
  Value length = b_.createOrFold<arith::MinSIOp>(loc_, rest, constant(sizes_.block));
  Running after =
      next({loop.getRegionIterArg(0), loop.getRegionIterArg(1), loop.getRegionIterArg(2)}, position,
           length);
  b_.create<scf::YieldOp>(loc_, ValueRange{after.maximum, after.sum, after.product});
  b_.setInsertionPointAfter(loop);
  llvm::SmallVector<Value> results =
      finish({loop.getResult(0), loop.getResult(1), loop.getResult(2)});
  b_.create<scf::YieldOp>(loc_, results);
  return branch;
}

void SoftmaxProduct::rewrite() {
  // Both the product and the sum have to be computed from the same rows, so what replaces them
  // stands behind the later one.
  b_.setInsertionPointAfter(at_.last);
  scf::IfOp blocks = inBlocks();
  llvm::SmallVector<Type> types(llvm::drop_begin(blocks.getResultTypes()));
  auto chosen = b_.create<scf::IfOp>(at_.product.getLoc(), types, blocks.getResult(0),
                                     /*withElseRegion=*/true);
  at_.product.getResult().replaceAllUsesWith(chosen.getResult(0));
  llvm::SmallVector<Value> written{at_.product.getResult()};
  if (!at_.quotient) {
    Value whole = at_.sum->getResult(0);
    whole.replaceAllUsesWith(chosen.getResult(1));
    written.push_back(whole);
  }
  b_.setInsertionPointToStart(chosen.thenBlock());
  b_.create<scf::YieldOp>(loc_, blocks.getResults().drop_front());
  b_.setInsertionPointToStart(chosen.elseBlock());
  b_.create<scf::YieldOp>(loc_, written);
  // What is computed for whole rows alone moves into the arm that needs it, and costs nothing
  // elsewhere.
  moveWhatOnlyItNeeds(at_.last, chosen.elseBlock());
}

namespace {

struct OnlineSoftmaxPass : impl::OnlineSoftmaxBase<OnlineSoftmaxPass> {
  using OnlineSoftmaxBase::OnlineSoftmaxBase;

  void runOnOperation() override {
    llvm::SmallVector<MatmulOp> products;
    getOperation()->walk([&](MatmulOp product) { products.push_back(product); });
    unsigned number = 0;
    // The number makes the names of extents unique.
    for (MatmulOp product : products)
      if (SoftmaxProduct found(product, {block, longRow}, number); found.match()) {
        found.rewrite();
        ++number;
      }
  }
};

} // namespace
} // namespace ptl::ir
