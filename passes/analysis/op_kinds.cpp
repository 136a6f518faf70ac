#include "passes/analysis/op_kinds.h"

#include "ir/dialect/fold.h"
#include "passes/analysis/op_info.h"

using namespace mlir;

namespace ptl::ir {

static bool isOfClass(Operation *op, OpClass wanted) {
  const OpRecord *record = recordOf(op);
  return record && record->opClass == wanted && op->getNumResults() == 1 &&
         isa<ArrayType>(op->getResult(0).getType());
}

bool isReduction(Operation *op) {
  return isOfClass(op, OpClass::Reduction) && (op->hasAttr("axes") || op->hasAttr("axis"));
}
bool isScan(Operation *op) {
  if (isa<FoldOp>(op))
    return true;
  return (isOfClass(op, OpClass::Scan) || isOfClass(op, OpClass::Sort)) &&
         rankOf(op->getOperand(0).getType()) == rankOf(op->getResult(0).getType());
}
bool isCumulative(Operation *op) { return isa<CumsumOp, CumprodOp, CummaxOp, CumminOp>(op); }
bool isProduct(Operation *op) { return isa<MatmulOp>(op); }
bool isCostly(Operation *op) { return isReduction(op) || isScan(op) || isProduct(op); }

bool isTiled(Operation *op) {
  if (op->getNumResults() != 1 || !isa<ArrayType>(op->getResult(0).getType()))
    return false;
  return isElementwise(op) || isCostly(op);
}

bool isView(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return !slice.getOutside() && isa<ArrayType>(slice.getType());
  return isa<CastOp, NewAxisOp, TransposeOp, BroadcastOp>(op);
}

bool isTaken(Operation *op) { return isa<TakeOp, GatherOp>(op); }

bool isFill(Operation *op) { return isa<ZerosOp, OnesOp, FullOp, IndexOp>(op); }

llvm::SmallVector<int64_t> foldedAxesOf(Operation *reduction) {
  if (auto axes = reduction->getAttrOfType<DenseI64ArrayAttr>("axes"))
    return llvm::SmallVector<int64_t>(axes.asArrayRef());
  if (auto axis = reduction->getAttrOfType<IntegerAttr>("axis"))
    return {axis.getInt()};
  return {};
}

llvm::SmallVector<int64_t> reducedAxesOf(Operation *reduction) {
  int64_t rank = rankOf(reduction->getOperand(0).getType());
  llvm::SmallVector<int64_t> axes = foldedAxesOf(reduction);
  if (axes.empty())
    llvm::append_range(axes, llvm::seq<int64_t>(0, rank));
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  return axes;
}

size_t axisAlong(Operation *scan) {
  auto axis = scan->getAttrOfType<IntegerAttr>("axis");
  return static_cast<size_t>(axis ? axis.getInt() : rankOf(scan->getResult(0).getType()) - 1);
}

Operation *onlyUser(Value value) {
  Operation *only = nullptr;
  for (Operation *user : value.getUsers()) {
    if (isa<DimOp>(user))
      continue;
    if (only)
      return nullptr;
    only = user;
  }
  return only;
}

} // namespace ptl::ir
