#include "codegen/cpu/insert_in_place.h"

#include "codegen/cpu/carried.h"
#include "codegen/cpu/in_place.h"
#include "codegen/cpu/lower_boxes.h"
#include "codegen/cpu/lower_tasks.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ptl::cpu {

void mayOverwrite(Lowering &l, Value array) { l.overwritable.insert(array); }

namespace {
/// How an operation stands to another one that is lowered now.
enum class Order : uint8_t { Before, OtherArm, Behind };

/// Finds whether all that reads an array has been lowered before an operation.
class Readers {
public:
  Readers(Lowering &l, Operation *at, Value memory) : l_(l), at_(at), memory_(memory) {}

  bool areOver(Value array) {
    return llvm::all_of(array.getUsers(), [&](Operation *user) { return isOver(user); });
  }

private:
  Order orderOf(Operation *user) const;
  bool isOver(Operation *user);

  Lowering &l_;
  Operation *at_;
  Value memory_; ///< of the array
  llvm::DenseSet<Operation *> seen_;
};
} // namespace

Order Readers::orderOf(Operation *user) const {
  // The innermost block that has both says which comes first.
  for (Operation *around = at_; around; around = around->getParentOp()) {
    Operation *inBlock = around->getBlock()->findAncestorOpInBlock(*user);
    if (!inBlock)
      continue;
    if (inBlock == around)
      return isa<scf::IfOp>(around) && user != around ? Order::OtherArm : Order::Behind;
    return inBlock->isBeforeInBlock(around) ? Order::Before : Order::Behind;
  }
  return Order::Behind;
}

bool Readers::isOver(Operation *user) {
  // The operation itself reads what it needs before it writes; lengths are no elements. An arm of a branch runs instead of the other one.
  if (user == at_ || at_->isAncestor(user) || isa<ir::DimOp>(user) || !seen_.insert(user).second)
    return true;
  if (Order order = orderOf(user); order != Order::Before)
    return order == Order::OtherArm;
  // What a `while` gives may be a view of what it reads.
  if (isa<scf::WhileOp>(user) ||
      user->getParentOfType<scf::WhileOp>() != at_->getParentOfType<scf::WhileOp>())
    return false;
  return llvm::all_of(user->getResults(), [&](Value result) {
    if (isScalar(result))
      return true;
    auto view = l_.views.find(result);
    // What has memory of its own has been computed. A view, and what is computed where it is used, is over with its users.
    return (view != l_.views.end() && memoryOf(view->second.data) != memory_) || areOver(result);
  });
}

// Whether only arms of branches lie between the place of an array and an operation: a loop would find what it has written in its next round.
static bool isOncePerValue(Value array, Operation *op) {
  Block *block = op->getBlock();
  while (block != array.getParentBlock()) {
    Operation *around = block->getParentOp();
    if (!isa<scf::IfOp>(around))
      return false;
    block = around->getBlock();
  }
  return true;
}

static std::optional<View> placeToWrite(Lowering &l, Value array, Operation *op) {
  auto view = l.views.find(array);
  if (view == l.views.end() || !l.overwritable.contains(array) || !isOncePerValue(array, op) ||
      !Readers(l, op, memoryOf(view->second.data)).areOver(array))
    return std::nullopt;
  return view->second;
}

bool insertInPlace(Lowering &l, ir::InsertOp op) {
  std::optional<View> whole = placeToWrite(l, op.getDest(), op);
  if (!whole)
    return false;
  // What is computed from elements that the box may replace is computed before it is stored. Another arm may read it from where it was.
  SmallVector<std::pair<Value, View>> moved;
  for (Value operand : {op.getValue(), op.getIndex()})
    if (operand && !isScalar(operand) && !readsNothingOf(l, operand, *whole)) {
      View copy = carriedBuffer(l, op, operand);
      if (auto there = l.views.find(operand); there != l.views.end())
        moved.push_back(*there);
      l.bindView(operand, copy);
    }
  asTask(l, op, [&] {
    View box = boxView(l, *whole, op.getOffsets(), op.getLengths(), op.getSteps(), op.getDropped());
    storeBox(l, op.getValue(), box, op.getIndex(), boxAxis(op.getIndexAxis(), op.getDropped()), "");
  });
  for (auto &[operand, there] : moved)
    l.bindView(operand, there);
  l.bindView(op.getResult(), *whole);
  mayOverwrite(l, op.getResult());
  return true;
}

// The array outside of the branch that an arm replaces elements of; null where it gives another one.
static Value replacedIn(Region &arm, unsigned number) {
  if (arm.empty())
    return {};
  Value value = arm.front().getTerminator()->getOperand(number);
  while (auto insert = value.getDefiningOp<ir::InsertOp>()) {
    if (!arm.isAncestor(insert->getParentRegion()))
      break;
    value = insert.getDest();
  }
  return arm.isAncestor(value.getParentRegion()) ? Value() : value;
}

SmallVector<Value> arraysOfArms(Lowering &l, scf::IfOp op) {
  SmallVector<Value> arrays;
  for (unsigned number = 0; number < op.getNumResults(); ++number) {
    Value array = isScalar(op.getResult(number)) ? Value() : replacedIn(op.getThenRegion(), number);
    bool isBoth = array && replacedIn(op.getElseRegion(), number) == array;
    // Two results need two memories.
    bool isFree = isBoth && !llvm::is_contained(arrays, array) && placeToWrite(l, array, op);
    arrays.push_back(isFree ? array : Value());
  }
  return arrays;
}

} // namespace ptl::cpu
