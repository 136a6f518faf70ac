#include "ir/dialect/host_views.h"

#include "ir/dialect/lengths.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ptl::ir {

static bool describesElements(Operation *op) {
  return isa<LoadOp, SliceOp, CastOp, ReshapeOp, NewAxisOp, ViewOp>(op);
}

Value storageUnder(Value array) {
  while (Operation *made = array.getDefiningOp()) {
    if (!describesElements(made))
      break;
    array = made->getOperand(0);
  }
  return array;
}

llvm::SmallVector<Operation *> usesOfElements(Value array) {
  llvm::SmallVector<Operation *> uses;
  llvm::SmallVector<Value> names = {array};
  for (size_t i = 0; i < names.size(); ++i) {
    Value name = names[i];
    for (Operation *user : name.getUsers()) {
      uses.push_back(user);
      if (describesElements(user))
        names.push_back(user->getResult(0));
    }
  }
  return uses;
}

/// Whether `a` is over before `b` begins, in every run of the block that holds both.
static bool isBefore(Operation *a, Operation *b) {
  for (Operation *outer = a; outer; outer = outer->getParentOp())
    if (Operation *other =
            outer->getBlock() ? outer->getBlock()->findAncestorOpInBlock(*b) : nullptr)
      return outer != other && outer->isBeforeInBlock(other);
  return false;
}

/// Kernels only read what they are given as arrays; refs may be written.
static bool mayWrite(Operation *user, Value storage) {
  auto isIt = [&](Value name) {
    return isa<RefType>(name.getType()) && storageUnder(name) == storage;
  };
  if (auto store = dyn_cast<StoreOp>(user))
    return isIt(store.getRef());
  return isa<LaunchOp>(user) && llvm::any_of(user->getOperands(), isIt);
}

bool staysAsItIs(Operation *load) {
  Value storage = storageUnder(load->getOperand(0));
  llvm::SmallVector<Operation *> uses = usesOfElements(load->getResult(0));
  return llvm::all_of(usesOfElements(storage), [&](Operation *user) {
    return !mayWrite(user, storage) || isBefore(user, load) ||
           llvm::all_of(uses, [&](Operation *use) { return isBefore(use, user); });
  });
}

bool isOnlyName(Operation *op) {
  if (!isa<ArrayType>(op->getResult(0).getType()))
    return false;
  auto isWhole = [&](auto box) {
    if (box.getOutside() || !box.getSteps().empty() || !box.getDropped().empty())
      return false;
    Value source = op->getOperand(0);
    llvm::ArrayRef<Extent> from = extentsOf(source.getType());
    for (auto [axis, length] : llvm::enumerate(box.getLengths())) {
      APInt number;
      bool same = from[axis].isConstant()
                      ? matchPattern(length, m_ConstantInt(&number)) &&
                            number.getSExtValue() == from[axis].length
                      : knownLength(source, static_cast<unsigned>(axis)) == length;
      if (!same || !matchPattern(box.getOffsets()[axis], m_Zero()))
        return false;
    }
    return true;
  };
  auto load = dyn_cast<LoadOp>(op);
  bool whole = load ? isWhole(load) : isa<SliceOp>(op) && isWhole(cast<SliceOp>(op));
  return whole && staysAsItIs(op);
}

} // namespace ptl::ir
