// Branches. Where both arms compute little, both are computed and one is chosen.
#include "ir/build/build_branch.h"
#include "ir/build/build_call.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_stmt.h"
#include "ir/build/build_type.h"
#include "ir/build/carried.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

std::optional<bool> constantCondition(mlir::Value condition) {
  if (matchPattern(condition, m_One()))
    return true;
  if (matchPattern(condition, m_Zero()))
    return false;
  return std::nullopt;
}

void buildIf(BuildContext &c, const IfStmt &stmt) {
  Location loc = c.location(stmt.span);
  mlir::Value condition = buildValue(c, *stmt.condition);
  if (std::optional<bool> known = constantCondition(condition)) {
    if (const ptl::Block *block = *known ? stmt.thenBlock : stmt.elseBlock)
      buildBlock(c, *block);
    return;
  }
  Slots slots = assignedSlots(c, {stmt.thenBlock, stmt.elseBlock});
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  auto branch = c.make<scf::IfOp>(loc, ValueRange(before).getTypes(), condition, true, true);
  auto build = [&](mlir::Block *target, const ptl::Block *source) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(target);
    setSlots(slots, before);
    if (source)
      buildBlock(c, *source);
    c.make<scf::YieldOp>(loc, slotValuesAs(c, slots, branch.getResultTypes(), loc));
  };
  build(branch.thenBlock(), stmt.thenBlock);
  build(branch.elseBlock(), stmt.elseBlock);
  setSlots(slots, branch.getResults());
}

/// Whether a block computes little, of scalars alone and without effects, so that it may as well be
/// computed where it is not asked for.
static bool isLittle(mlir::Block &block) {
  constexpr size_t most = 4;
  auto isScalar = [](mlir::Value value) { return value.getType().isIntOrIndexOrFloat(); };
  size_t count = 0;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    bool isFree = op.hasTrait<OpTrait::ConstantLike>();
    if (!isPure(&op) || op.getNumRegions() != 0 || !llvm::all_of(op.getResults(), isScalar) ||
        !llvm::all_of(op.getOperands(), isScalar) || (count += !isFree) > most)
      return false;
  }
  return true;
}

/// The operations of a block but its end, before another one.
static void moveBefore(Operation *before, mlir::Block &block) {
  mlir::Block::iterator end = block.end();
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    end = block.back().getIterator();
  before->getBlock()->getOperations().splice(before->getIterator(), block.getOperations(),
                                             block.begin(), end);
}

Bound buildIfExpr(BuildContext &c, const IfExpr &expr) {
  Location loc = c.here(expr);
  if (expr.fold)
    if (Bound whole = buildFold(c, *expr.fold, loc); whole.kind != Bound::Kind::None)
      return whole;
  // What is written out for a scan is one of two ways, between which lengths decide.
  mlir::Value byPosition = expr.fold ? goesByPosition(c, *expr.fold, loc) : mlir::Value();
  mlir::Value condition = byPosition ? byPosition : buildValue(c, *expr.condition);
  auto buildArm = [&](bool first) {
    if (byPosition && first)
      return buildByPosition(c, *expr.fold, loc);
    const ptl::Block *block = first || byPosition ? expr.thenBlock : expr.elseBlock;
    return block ? buildValueBlock(c, *block) : Bound();
  };
  if (std::optional<bool> known = constantCondition(condition))
    return buildArm(*known);
  Slots slots = assignedSlots(c, {expr.thenBlock, expr.elseBlock});
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  bool hasValue = expr.type->kind != TypeKind::Void && expr.type->kind != TypeKind::Error;

  // The types of tuples and structs are known only when an arm is built, so arms are built aside
  // and moved.
  Region regions[2];
  llvm::SmallVector<mlir::Value> results[2];
  auto build = [&](size_t arm) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.createBlock(&regions[arm]);
    setSlots(slots, before);
    Bound value = buildArm(arm == 0);
    results[arm] = slotValues(slots);
    if (hasValue)
      flatten(value = readRefs(c, value, loc), results[arm]);
    return value;
  };
  Bound result = build(0);
  build(1);
  llvm::SmallVector<mlir::Type> types(ValueRange(before).getTypes());
  for (mlir::Value value : llvm::ArrayRef(results[0]).drop_front(slots.size()))
    types.push_back(value.getType());
  if (expr.type->isArray())
    types.back() = irType(c, *expr.type);
  bool isChoice = slots.empty() && types.size() == 1 && types.front().isIntOrIndexOrFloat() &&
                  results[0][0].getType() == results[1][0].getType();
  if (isChoice && isLittle(regions[0].front()) && isLittle(regions[1].front())) {
    auto choice = c.make<arith::SelectOp>(loc, condition, results[0][0], results[1][0]);
    for (Region &region : regions)
      moveBefore(choice, region.front());
    return Bound::of(choice);
  }
  auto branch = c.make<scf::IfOp>(loc, types, condition, false, false);
  for (size_t arm : {0, 1}) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToEnd(&regions[arm].front());
    llvm::SmallVector<mlir::Value> values;
    for (auto [value, type] : llvm::zip(results[arm], types))
      values.push_back(castTo(c, value, type, loc));
    c.make<scf::YieldOp>(loc, values);
    branch->getRegion(static_cast<unsigned>(arm)).takeBody(regions[arm]);
  }
  setSlots(slots, branch.getResults().take_front(slots.size()));
  size_t next = slots.size();
  if (hasValue)
    refill(result, branch.getResults(), next);
  return hasValue ? result : Bound();
}

mlir::Value buildWhere(BuildContext &c, mlir::Value condition, bool when, const Expr &expr,
                       Location loc) {
  Slots slots = assignedSlots(c, {}, &expr);
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  llvm::SmallVector<mlir::Type> types{c.b.getI1Type()};
  llvm::append_range(types, ValueRange(before).getTypes());
  auto branch = c.make<scf::IfOp>(loc, types, condition, true, true);
  auto arm = [&](mlir::Block *block, bool evaluate) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(block);
    setSlots(slots, before);
    llvm::SmallVector<mlir::Value> values{
        evaluate ? buildValue(c, expr) : mlir::Value(c.make<arith::ConstantIntOp>(loc, !when, 1))};
    llvm::append_range(values, slotValuesAs(c, slots, ValueRange(before).getTypes(), loc));
    c.make<scf::YieldOp>(loc, values);
  };
  arm(branch.thenBlock(), when);
  arm(branch.elseBlock(), !when);
  setSlots(slots, branch.getResults().drop_front());
  mlir::Block &evaluated = when ? *branch.thenBlock() : *branch.elseBlock();
  // By hand a condition is what it says, as long as computing all of it has no effect.
  bool computesBoth = c.manual ? llvm::all_of(evaluated.without_terminator(),
                                              [](Operation &op) { return isPure(&op); })
                               : isLittle(evaluated);
  if (!computesBoth || !slots.empty())
    return branch.getResult(0);
  mlir::Value value = evaluated.getTerminator()->getOperand(0);
  moveBefore(branch, evaluated);
  branch.erase();
  return when ? mlir::Value(c.make<arith::AndIOp>(loc, condition, value))
              : mlir::Value(c.make<arith::OrIOp>(loc, condition, value));
}

Bound buildLogical(BuildContext &c, const LogicalExpr &expr) {
  Location loc = c.here(expr);
  mlir::Value lhs = buildValue(c, *expr.lhs);
  if (std::optional<bool> known = constantCondition(lhs))
    return *known == expr.isAnd ? Bound::of(buildValue(c, *expr.rhs)) : Bound::of(lhs);
  return Bound::of(buildWhere(c, lhs, expr.isAnd, *expr.rhs, loc));
}

} // namespace ptl::ir
