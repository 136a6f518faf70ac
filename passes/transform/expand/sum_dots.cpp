#include "passes/transform/expand/sum_dots.h"

#include "ir/dialect/make_op.h"
#include "passes/transform/groups/group_schedule.h"

using namespace mlir;

namespace ptl::ir {

/// Whether the matrices of a product are a row and a column, and no schedule says anything of it.
static bool isDot(MatmulOp product) {
  llvm::ArrayRef<Extent> left = extentsOf(product->getOperand(0).getType()),
                         right = extentsOf(product->getOperand(1).getType());
  return left.size() >= 2 && left.size() == right.size() && left[left.size() - 2].isOne() &&
         right.back().isOne() && !isScheduled(product) && !isInSchedule(product);
}

namespace {
class DotSum {
public:
  explicit DotSum(MatmulOp product) : product_(product), b_(product), loc_(product.getLoc()) {}
  void rewrite();

private:
  Value asRow(Value column);
  Value widened(Value x);

  MatmulOp product_;
  OpBuilder b_;
  Location loc_;
};
} // namespace

Value DotSum::asRow(Value column) {
  llvm::SmallVector<Extent> extents(extentsOf(column.getType()));
  size_t rank = extents.size();
  std::swap(extents[rank - 1], extents[rank - 2]);
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(axes[rank - 1], axes[rank - 2]);
  return makeOp<TransposeOp>(b_, loc_, arrayTypeOf(elementTypeOf(column.getType()), extents),
                             column, b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(axes)));
}

/// In the type in which products are summed.
Value DotSum::widened(Value x) {
  Type wide = elementTypeOf(product_->getResult(0).getType());
  if (elementTypeOf(x.getType()) == wide)
    return x;
  return makeOp<ConvertOp>(b_, loc_, arrayTypeOf(wide, extentsOf(x.getType())), x,
                           {b_.getNamedAttr("round", b_.getStringAttr("even")),
                            b_.getNamedAttr("saturate", b_.getBoolAttr(false))});
}

void DotSum::rewrite() {
  Value left = product_->getOperand(0), right = asRow(product_->getOperand(1));
  auto result = cast<ArrayType>(product_->getResult(0).getType());
  // Batches that only one operand has are repeated.
  llvm::SmallVector<Extent> extents(result.getExtents());
  extents.back() = extentsOf(left.getType()).back();
  Value products = makeOp<MulOp>(b_, loc_, arrayTypeOf(result.getElementType(), extents),
                                 {widened(left), widened(right)});
  Value sum =
      makeOp<ReduceSumOp>(b_, loc_, result, products,
                          b_.getNamedAttr("axes", b_.getDenseI64ArrayAttr(result.getRank() - 1)));
  product_->getResult(0).replaceAllUsesWith(sum);
  product_->erase();
}

void sumDots(func::FuncOp function) {
  llvm::SmallVector<MatmulOp> dots;
  function.walk([&](MatmulOp product) {
    if (!product->getParentOfType<ParallelOp>() && isDot(product))
      dots.push_back(product);
  });
  for (MatmulOp product : dots)
    keepingMarks(product, [&] { DotSum(product).rewrite(); });
}

} // namespace ptl::ir
