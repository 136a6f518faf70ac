// `return` in branches and loops.
#include "ir/build/build_return.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_branch.h"
#include "ir/build/build_exit.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_stmt.h"
#include "ir/build/carried.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

void buildReturn(BuildContext &c, const ReturnStmt &stmt) {
  Location loc = c.location(stmt.span);
  Bound value = stmt.value ? readRef(c, buildExpr(c, *stmt.value), loc) : Bound();
  // Outside of loops the statements behind a `return` were not built, so its value is that of the
  // function.
  if (!c.returnSlot) {
    c.returned = std::move(value);
    return;
  }
  Slots from, to;
  addSlots(value, from);
  addSlots(c.returnSlot->value, to);
  // The slot is carried by the loops around, which fix its types.
  for (auto [source, target] : llvm::zip(from, to))
    *target = castTo(c, *source, (*target).getType(), loc);
  c.returnSlot->flag = c.make<arith::ConstantIntOp>(loc, 1, 1);
  // For the innermost loop a `return` is a `break`; the flag of the slot leaves the others.
  setExit(c, &ExitFlags::broke, loc);
}

/// A branch whose arms both return. The result's types are known only when the first arm is built,
/// so the arms are built aside and moved.
static void buildReturningBranch(BuildContext &c, mlir::Value condition,
                                 const std::function<void()> &thenArm,
                                 const std::function<void()> &elseArm, Location loc) {
  Frame saved = *c.frame;
  auto buildArm = [&](Region &region, const std::function<void()> &arm) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.createBlock(&region);
    // Each arm begins with the variables as they were before the branch.
    *c.frame = saved;
    arm();
    return c.returned;
  };
  Region thenRegion, elseRegion;
  Bound thenValue = buildArm(thenRegion, thenArm);
  Bound elseValue = buildArm(elseRegion, elseArm);
  *c.frame = saved;
  llvm::SmallVector<mlir::Value> thenValues, elseValues;
  flatten(thenValue, thenValues);
  flatten(elseValue, elseValues);
  auto branch = c.make<scf::IfOp>(loc, ValueRange(thenValues).getTypes(), condition, false, false);
  auto finish = [&](Region &target, Region &source, llvm::ArrayRef<mlir::Value> values) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToEnd(&source.front());
    llvm::SmallVector<mlir::Value> results;
    for (auto [value, type] : llvm::zip(values, branch.getResultTypes()))
      results.push_back(castTo(c, value, type, loc));
    c.make<scf::YieldOp>(loc, results);
    target.takeBody(source);
  };
  finish(branch.getThenRegion(), thenRegion, thenValues);
  finish(branch.getElseRegion(), elseRegion, elseValues);
  c.returned = thenValue;
  size_t position = 0;
  refill(c.returned, branch.getResults(), position);
}

void buildReturningIf(BuildContext &c, const IfStmt &stmt, const std::vector<Stmt *> &stmts,
                      size_t next) {
  auto continueWith = [&](const ptl::Block *block) {
    std::vector<Stmt *> all;
    if (block)
      all = block->stmts;
    all.insert(all.end(), stmts.begin() + static_cast<ptrdiff_t>(next), stmts.end());
    buildStmts(c, all, 0);
  };
  mlir::Value condition = buildValue(c, *stmt.condition);
  // A branch that is decided needs no second copy of the statements behind it.
  if (std::optional<bool> known = constantCondition(condition))
    return continueWith(*known ? stmt.thenBlock : stmt.elseBlock);
  buildReturningBranch(
      c, condition, [&] { continueWith(stmt.thenBlock); }, [&] { continueWith(stmt.elseBlock); },
      c.location(stmt.span));
}

void buildReturningLoop(BuildContext &c, const Stmt &loop, const std::vector<Stmt *> &stmts,
                        size_t next) {
  Location loc = c.location(loop.span);
  const Type *type = c.frame->decl->kind == DeclKind::Fn ? c.frame->decl->returnType : nullptr;
  // A kernel or program stores its results, so its `return` only ends it.
  bool hasValue = type && type->kind != TypeKind::Void;
  c.returnSlot = ReturnSlot{c.make<arith::ConstantIntOp>(loc, 0, 1),
                            hasValue ? zeroOf(c, *type, loc) : Bound()};
  buildStmt(c, loop);
  // Behind the loop the slot is closed: a later `return` is outside of it and needs no flag.
  ReturnSlot slot = *std::exchange(c.returnSlot, std::nullopt);
  buildReturningBranch(
      c, slot.flag, [&] { c.returned = slot.value; }, [&] { buildStmts(c, stmts, next); }, loc);
}

} // namespace ptl::ir
