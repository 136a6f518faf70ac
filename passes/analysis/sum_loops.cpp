#include "passes/analysis/sum_loops.h"

#include "passes/analysis/lengths.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::ir {

/// `acc + a @ b`, where nobody else reads either.
static bool isAddition(Value carried, Value next, SumLoops &sum) {
  sum.cast = next.getDefiningOp<CastOp>();
  if (sum.cast && next.hasOneUse() && sum.cast->getBlock() == sum.loops.back().getBody())
    next = sum.cast.getSource();
  sum.add = next.getDefiningOp<AddOp>();
  // Another reader would need the sum of each round, and rounds that are added up at once have
  // none.
  if (!sum.add || !next.hasOneUse() || !carried.hasOneUse() ||
      *carried.getUsers().begin() != sum.add)
    return false;
  Value other = sum.add->getOperand(sum.add->getOperand(0) == carried ? 1 : 0);
  sum.product = other.getDefiningOp<MatmulOp>();
  return sum.product && sum.product.getScales().empty() && other.hasOneUse() &&
         sum.product->getBlock() == sum.add->getBlock() && other.getType() == next.getType();
}

/// The loops, each of which does nothing with the array but to hand it to the one in its body.
static bool descend(SumLoops &sum) {
  while (true) {
    scf::ForOp loop = sum.loops.back();
    if (loop.getNumRegionIterArgs() != 1 || !isa<ArrayType>(loop.getResult(0).getType()))
      return false;
    Value carried = loop.getRegionIterArg(0), next = loop.getBody()->getTerminator()->getOperand(0);
    auto inner = next.getDefiningOp<scf::ForOp>();
    if (!inner)
      return isAddition(carried, next, sum);
    // The array has to go into the inner loop as it is and come out of it as it will be.
    if (inner->getBlock() != loop.getBody() || inner->getNumResults() != 1 || !next.hasOneUse() ||
        !carried.hasOneUse() || inner.getInitArgs()[0] != carried)
      return false;
    sum.loops.push_back(inner);
  }
}

static bool hasPlainBody(const SumLoops &sum, scf::ForOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    return llvm::is_contained(sum.loops, dyn_cast<scf::ForOp>(op)) || isa<LoadOp>(op) ||
           (op.getNumRegions() == 0 && isMemoryEffectFree(&op));
  });
}

std::optional<SumLoops> SumLoops::of(scf::ForOp outermost) {
  SumLoops sum;
  sum.loops.push_back(outermost);
  if (!descend(sum) ||
      !llvm::all_of(sum.loops, [&](scf::ForOp loop) { return hasPlainBody(sum, loop); }))
    return std::nullopt;
  return sum;
}

bool SumLoops::hasNumberedRounds() const {
  return llvm::all_of(loops, [&](scf::ForOp loop) {
    return isFromOutside(loop.getLowerBound()) && isFromOutside(loop.getUpperBound()) &&
           isFromOutside(loop.getStep());
  });
}

bool SumLoops::isPart(Value operand, llvm::SmallVectorImpl<Value> &arrays) const {
  if (isFromOutside(operand)) {
    arrays.push_back(operand);
    return true;
  }
  if (auto load = operand.getDefiningOp<LoadOp>())
    return !load.getOutside() && isFromOutside(load.getRef());
  if (auto slice = operand.getDefiningOp<SliceOp>())
    return !slice.getOutside() && isPart(slice.getOperand(0), arrays);
  // A loop inside may read a copy that is made before it, unless what it reads costs nothing.
  auto transpose = operand.getDefiningOp<TransposeOp>();
  return transpose && transpose->getBlock() == product->getBlock() &&
         isPart(transpose->getOperand(0), arrays);
}

/// What a matrix of the body was before axes were put together, where it has one axis more and `isSame` of its extents and the matrix's.
static Value
linesOf(const SumLoops &sum, Value matrix,
        llvm::function_ref<bool(llvm::ArrayRef<Extent>, llvm::ArrayRef<Extent>)> isSame) {
  auto reshape = matrix.getDefiningOp<ReshapeOp>();
  if (!reshape || sum.isFromOutside(matrix))
    return {};
  Value lines = reshape->getOperand(0);
  llvm::ArrayRef<Extent> from = extentsOf(lines.getType()), to = extentsOf(matrix.getType());
  return from.size() == 3 && to.size() == 2 && isSame(from, to) ? lines : Value();
}

Value SumLoops::linesOfLeft() const {
  return linesOf(*this, product->getOperand(0),
                 [](auto from, auto to) { return from.back() == to.back(); });
}

Value SumLoops::linesOfRight() const {
  return linesOf(*this, product->getOperand(1),
                 [](auto from, auto to) { return from.front() == to.front(); });
}

Value SumLoops::lengthBefore(OpBuilder &builder, Value value, int64_t axis) const {
  const Extent &extent = extentsOf(value.getType())[static_cast<size_t>(axis)];
  if (extent.isConstant()) {
    builder.setInsertionPoint(loops.front());
    return builder.create<arith::ConstantIndexOp>(value.getLoc(), extent.length);
  }
  builder.setInsertionPoint(product);
  Value length = lengthOf(builder, value, axis);
  // A length of what is there before the loops can be asked for there.
  auto asked = length.getDefiningOp<DimOp>();
  if (asked && !isFromOutside(length) && isFromOutside(asked.getSource())) {
    builder.setInsertionPoint(loops.front());
    length = lengthOf(builder, asked.getSource(), static_cast<int64_t>(asked.getAxis()));
  }
  return isFromOutside(length) ? length : Value();
}

} // namespace ptl::ir
