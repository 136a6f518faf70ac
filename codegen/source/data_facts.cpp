// Which arrays of positions must hold each value once, so that points of a grid write different
// elements.
#include "codegen/source/tile_kernels.h"

using namespace mlir;

namespace ptl::source {

/// What an array is a description, or all, of.
static Value rootOf(Value array) {
  for (;;) {
    Operation *op = array.getDefiningOp();
    bool isSame =
        op && (isa<ir::CastOp>(op) || (isa<ir::LoadOp>(op) && ir::rankOf(array.getType()) > 0 &&
                                       op->getParentOfType<ir::ParallelOp>() == nullptr));
    if (!isSame)
      return array;
    array = op->getOperand(0);
  }
}

/// The element of an array that a position is, without conversions; null if it is none.
static Operation *elementAt(Value position) {
  Operation *op = position.getDefiningOp();
  while (op && (op->getName().getStringRef() == "ptl.convert" ||
                op->getName().getStringRef().starts_with("arith.index_cast")))
    op = op->getOperand(0).getDefiningOp();
  bool isElement =
      op && isa<ir::LoadOp, ir::SliceOp>(op) && ir::rankOf(op->getResult(0).getType()) == 0;
  return isElement ? op : nullptr;
}

static bool dependsOn(Value value, Value on, Operation *within) {
  if (value == on)
    return true;
  Operation *op = value.getDefiningOp();
  return op && within->isProperAncestor(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, on, within);
         });
}

/// Points that differ in a variable must write different elements: by a position that depends on it
/// and is no element of an array, or by elements that all differ.
static void collectUnique(ir::StoreOp store, ir::ParallelOp grid, llvm::SetVector<Value> &arrays) {
  if (store.getAtomic())
    return;
  if (Value index = store.getIndex()) {
    Operation *made = index.getDefiningOp();
    while (made && (isa<ir::CastOp>(made) || made->getName().getStringRef() == "ptl.convert"))
      made = made->getOperand(0).getDefiningOp();
    if (made && isa<ir::LoadOp, ir::SliceOp>(made) && grid->isAncestor(made))
      arrays.insert(made->getOperand(0));
    return;
  }
  llvm::SmallVector<Value> variables;
  for (Operation *outer = store->getParentOp(); outer != grid->getParentOp();
       outer = outer->getParentOp())
    if (auto each = dyn_cast<ir::ParallelOp>(outer))
      llvm::append_range(variables, each.getBody().front().getArguments());
  for (Value variable : variables) {
    auto depends = [&](Value position) { return dependsOn(position, variable, grid); };
    if (llvm::any_of(store.getOffsets(),
                     [&](Value offset) { return !elementAt(offset) && depends(offset); }))
      continue;
    for (Value offset : store.getOffsets())
      if (Operation *element = elementAt(offset); element && depends(offset))
        arrays.insert(element->getOperand(0));
  }
}

llvm::SetVector<Value> uniqueArrays(ir::ParallelOp grid) {
  llvm::SetVector<Value> arrays;
  grid->walk([&](ir::StoreOp store) { collectUnique(store, grid, arrays); });
  return arrays;
}

bool isUniqueOfGrid(ir::CheckOp check) {
  auto fact = check.getCondition().getDefiningOp<ir::UniqueOp>();
  if (!fact)
    return false;
  Value array = rootOf(fact->getOperand(0));
  bool isNeeded = false;
  check->getParentOfType<func::FuncOp>().walk([&](ir::ParallelOp grid) {
    if (!grid->getParentOfType<ir::ParallelOp>())
      for (Value needed : uniqueArrays(grid))
        isNeeded |= rootOf(needed) == array;
  });
  return isNeeded;
}

} // namespace ptl::source
