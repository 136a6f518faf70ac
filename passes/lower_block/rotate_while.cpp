#include "passes/lower_block/rotate_while.h"

#include "passes/analysis/op_info.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ptl::block {

/// Whether all positions are numbers that lie in the array.
static bool isInside(ir::SliceOp slice) {
  if (!slice.getSteps().empty() || slice.getOutside())
    return false;
  return llvm::all_of(
      llvm::zip(slice.getOffsets(), slice.getLengths(), ir::extentsOf(slice.getSource().getType())),
      [](const auto &axis) {
        auto [offset, length, extent] = axis;
        std::optional<int64_t> first = getConstantIntValue(offset),
                               count = getConstantIntValue(length);
        return first && count && extent.isConstant() && *first >= 0 &&
               *first + *count <= extent.length;
      });
}

/// Whether it may be computed where its value is not asked for: it reads no position that a branch
/// keeps inside of an array.
static bool isSpeculatable(Operation &op) {
  if (isa<arith::ArithDialect>(op.getDialect()) || op.hasTrait<OpTrait::ConstantLike>())
    return isPure(&op);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return isInside(slice);
  const OpRecord *record = ir::recordOf(&op);
  return record && isMemoryEffectFree(&op) &&
         (ir::isElementwise(&op) || record->opClass == OpClass::Reduction);
}

static Value chosen(OpBuilder &b, scf::IfOp branch, Value yes, Value no) {
  Location loc = branch.getLoc();
  // Conditions that are combined stay recognisable as `and` and `or`.
  if (yes.getType().isInteger(1) && matchPattern(no, m_Zero()))
    return b.create<arith::AndIOp>(loc, branch.getCondition(), yes);
  if (yes.getType().isInteger(1) && matchPattern(yes, m_One()))
    return b.create<arith::OrIOp>(loc, branch.getCondition(), no);
  return b.create<arith::SelectOp>(loc, branch.getCondition(), yes, no);
}

/// `a and b` of a condition computes both sides: what decides whether to go on has no branches.
static void flattenBranches(scf::WhileOp loop) {
  llvm::SmallVector<scf::IfOp> branches;
  loop.getBefore().walk([&](scf::IfOp branch) { branches.push_back(branch); }); // inner ones first
  for (scf::IfOp branch : branches) {
    bool isFlat =
        branch.getNumResults() > 0 && !branch.getElseRegion().empty() &&
        llvm::all_of(branch.getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
    for (Region *arm : branch.getRegions())
      isFlat = isFlat && llvm::all_of(arm->front().without_terminator(), isSpeculatable);
    if (!isFlat)
      continue;
    OpBuilder b(branch);
    for (Region *arm : branch.getRegions())
      for (Operation &op : llvm::make_early_inc_range(arm->front().without_terminator()))
        op.moveBefore(branch);
    for (auto [result, yes, no] : llvm::zip(branch.getResults(), branch.thenYield().getOperands(),
                                            branch.elseYield().getOperands()))
      result.replaceAllUsesWith(chosen(b, branch, yes, no));
    branch.erase();
  }
}

/// Arithmetic of scalars alone.
static bool isPlainCondition(scf::WhileOp loop) {
  return llvm::all_of(loop.getBeforeBody()->without_terminator(), [](Operation &op) {
    return isa<arith::ArithDialect>(op.getDialect()) &&
           llvm::none_of(op.getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
  });
}

/// The condition on these values: what it hands on, and last whether the loop goes on.
static llvm::SmallVector<Value> buildCondition(OpBuilder &b, scf::WhileOp loop, ValueRange values) {
  IRMapping mapping;
  mapping.map(loop.getBeforeArguments(), values);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    b.clone(op, mapping);
  scf::ConditionOp condition = loop.getConditionOp();
  llvm::SmallVector<Value> handed;
  for (Value value : condition.getArgs())
    handed.push_back(mapping.lookupOrDefault(value));
  handed.push_back(mapping.lookupOrDefault(condition.getCondition()));
  return handed;
}

static void rotate(scf::WhileOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  // The condition is computed once in front of the loop, and then at the end of each round.
  llvm::SmallVector<Value> inits = buildCondition(b, loop, loop.getInits());
  llvm::SmallVector<Type> types(ValueRange(inits).getTypes());
  llvm::SmallVector<Location> locations;
  for (Value argument : loop.getAfterArguments())
    locations.push_back(argument.getLoc());
  // Whether to go on is a variable of the loop now, and has a name in the kernel's text.
  locations.push_back(NameLoc::get(b.getStringAttr("more"), loc));
  auto made = b.create<scf::WhileOp>(loc, types, inits);

  Block *before = b.createBlock(&made.getBefore(), {}, types, locations);
  b.create<scf::ConditionOp>(loc, before->getArguments().back(), before->getArguments());

  Block *after = b.createBlock(&made.getAfter(), {}, types, locations);
  IRMapping mapping;
  mapping.map(loop.getAfterArguments(), after->getArguments().drop_back());
  for (Operation &op : loop.getAfterBody()->without_terminator())
    b.clone(op, mapping);
  llvm::SmallVector<Value> next;
  for (Value value : loop.getYieldOp().getOperands())
    next.push_back(mapping.lookupOrDefault(value));
  b.create<scf::YieldOp>(loc, buildCondition(b, loop, next));

  loop.replaceAllUsesWith(made.getResults().drop_back());
  loop.erase();
}

void rotateWhileLoops(ir::ParallelOp grid) {
  llvm::SmallVector<scf::WhileOp> loops;
  grid.walk([&](scf::WhileOp loop) { loops.push_back(loop); }); // inner ones first
  for (scf::WhileOp loop : loops) {
    flattenBranches(loop);
    // A condition of scalar arithmetic can stay where it is.
    if (!isPlainCondition(loop))
      rotate(loop);
  }
}

} // namespace ptl::block
