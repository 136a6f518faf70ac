// Structured control flow as jumps.
#include "runtime/sim/load/function_loader.h"

using namespace mlir;

namespace ptl::rt::sim {

llvm::SmallVector<Register> FunctionLoader::defineAll(ValueRange values) {
  llvm::SmallVector<Register> registers;
  for (Value value : values)
    registers.push_back(define(value));
  return registers;
}

/// All at once: a value may be the old one of a register that is written.
void FunctionLoader::moveAll(Operation *op, ValueRange from, llvm::ArrayRef<Register> to) {
  auto move = [&](Register source, Register target) {
    Step &step = add(StepKind::Move, op);
    step.operands.push_back(source);
    step.result = target;
  };
  if (from.size() == 1)
    return move(registerOf(from.front()), to.front());
  llvm::SmallVector<Register> copies;
  for (Value value : from) {
    copies.push_back(newRegister(value.getType()));
    move(registerOf(value), copies.back());
  }
  for (size_t i = 0; i < copies.size(); ++i)
    move(copies[i], to[i]);
}

bool FunctionLoader::loadControl(Operation *op, bool &known) {
  known = true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loadFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return loadIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return loadWhile(loop);
  if (isa<func::ReturnOp>(op)) {
    add(StepKind::Return, op);
    return true;
  }
  if (isa<scf::YieldOp, scf::ConditionOp>(op)) // their parents move what they give
    return true;
  known = false;
  return true;
}

bool FunctionLoader::loadFor(scf::ForOp loop) {
  Register position = define(loop.getInductionVar());
  llvm::SmallVector<Register> carried = defineAll(loop.getRegionIterArgs());
  moveAll(loop, loop.getInitArgs(), carried);
  Step &start = add(StepKind::Move, loop);
  start.operands.push_back(registerOf(loop.getLowerBound()));
  start.result = position;

  // The bounds are values from outside of the loop. What the loop carries is named by the test,
  // too: where rounds are left out, it is continued over them.
  int32_t head = here();
  Step &test = add(StepKind::JumpUnlessLess, loop);
  test.operands = {position, registerOf(loop.getUpperBound()), registerOf(loop.getStep())};
  test.operands.insert(test.operands.end(), carried.begin(), carried.end());
  if (!loadBlock(*loop.getBody()))
    return false;
  Operation *yield = loop.getBody()->getTerminator();
  moveAll(yield, yield->getOperands(), carried);
  Step &next = add(StepKind::Compute, loop);
  next.op = ArithOp::AddI;
  next.operands = {position, registerOf(loop.getStep())};
  next.result = position;
  add(StepKind::Jump, loop).target = head;
  // Only now it is known where the loop ends.
  step(head).target = here();
  for (auto [result, value] : llvm::zip(loop.getResults(), carried))
    registers_[result] = value;
  return true;
}

bool FunctionLoader::loadIf(scf::IfOp branch) {
  llvm::SmallVector<Register> results = defineAll(branch.getResults());
  int32_t test = here();
  add(StepKind::JumpUnless, branch).operands = {registerOf(branch.getCondition())};
  // Both sides write the same registers, which then hold the results whichever side ran.
  auto loadSide = [&](Block *block) {
    if (!loadBlock(*block))
      return false;
    moveAll(block->getTerminator(), block->getTerminator()->getOperands(), results);
    return true;
  };
  if (!loadSide(branch.thenBlock()))
    return false;
  if (!branch.elseBlock()) {
    step(test).target = here();
    return true;
  }
  int32_t past = here();
  add(StepKind::Jump, branch);
  step(test).target = here();
  if (!loadSide(branch.elseBlock()))
    return false;
  step(past).target = here();
  return true;
}

bool FunctionLoader::loadWhile(scf::WhileOp loop) {
  llvm::SmallVector<Register> before = defineAll(loop.getBeforeArguments()),
                              after = defineAll(loop.getAfterArguments());
  moveAll(loop, loop.getInits(), before);
  int32_t head = here();
  if (!loadBlock(*loop.getBeforeBody()))
    return false;
  scf::ConditionOp condition = loop.getConditionOp();
  moveAll(condition, condition.getArgs(), after);
  int32_t test = here();
  add(StepKind::JumpUnless, condition).operands = {registerOf(condition.getCondition())};
  if (!loadBlock(*loop.getAfterBody()))
    return false;
  // The condition is computed again from what the body leaves.
  moveAll(loop.getYieldOp(), loop.getYieldOp().getOperands(), before);
  add(StepKind::Jump, loop).target = head;
  step(test).target = here();
  for (auto [result, value] : llvm::zip(loop.getResults(), after))
    registers_[result] = value;
  return true;
}

} // namespace ptl::rt::sim
