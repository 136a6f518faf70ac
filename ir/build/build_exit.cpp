// Flags of loops that are left early, and what they guard.
#include "ir/build/build_exit.h"
#include "ir/build/build_stmt.h"
#include "ir/build/carried.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

bool mayExit(const ptl::Block &block) {
  return llvm::any_of(block.stmts, [](const Stmt *stmt) { return mayExit(*stmt); });
}

bool mayExit(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Break:
  case StmtKind::Continue:
    return true;
  case StmtKind::If: {
    const auto &branch = cast<IfStmt>(stmt);
    return mayExit(*branch.thenBlock) || (branch.elseBlock && mayExit(*branch.elseBlock));
  }
  case StmtKind::Block:
    return mayExit(*cast<BlockStmt>(stmt).block);
  case StmtKind::Task:
    return mayExit(*cast<TaskStmt>(stmt).body);
  default:
    return false;
  }
}

bool mayReturn(const Stmt &stmt) {
  auto any = [](const ptl::Block *block) {
    return block && llvm::any_of(block->stmts, [](const Stmt *s) { return mayReturn(*s); });
  };
  switch (stmt.kind) {
  case StmtKind::Return:
    return true;
  case StmtKind::If: {
    const auto &branch = cast<IfStmt>(stmt);
    return any(branch.thenBlock) || any(branch.elseBlock);
  }
  case StmtKind::Block:
    return any(cast<BlockStmt>(stmt).block);
  case StmtKind::For:
    return any(cast<ForStmt>(stmt).body);
  case StmtKind::While:
    return any(cast<WhileStmt>(stmt).body);
  default:
    return false;
  }
}

void setExit(BuildContext &c, mlir::Value ExitFlags::*flag, Location loc) {
  // Without flags there is no loop around that can be left early.
  if (c.exits)
    (*c.exits).*flag = c.make<arith::ConstantIntOp>(loc, 1, 1);
}

void leaveOuterLoop(BuildContext &c, const Stmt &loop, Location loc) {
  // A `return` in an inner loop also ends the outer one, whose own flag it has not set. Behind a loop without one the flag has to stay the
  // value that it is: statements that set no flag are built in branches that do not hand it on.
  if (c.returnSlot && c.exits && mayReturn(loop))
    c.exits->broke = c.b.createOrFold<arith::OrIOp>(loc, c.exits->broke, c.returnSlot->flag);
}

static mlir::Value notExited(BuildContext &c, Location loc) {
  mlir::Value exited = c.b.createOrFold<arith::OrIOp>(loc, c.exits->broke, c.exits->continued);
  mlir::Value one = c.make<arith::ConstantIntOp>(loc, 1, 1);
  return c.b.createOrFold<arith::XOrIOp>(loc, exited, one);
}

void buildGuarded(BuildContext &c, const std::vector<Stmt *> &stmts, size_t from) {
  ptl::Block rest;
  rest.stmts.assign(stmts.begin() + static_cast<ptrdiff_t>(from), stmts.end());
  buildUnlessExited(c, rest, c.location(stmts[from]->span), [&] { buildStmts(c, rest.stmts, 0); });
}

void buildUnlessExited(BuildContext &c, const ptl::Block &block, Location loc,
                       llvm::function_ref<void()> build) {
  Slots slots = assignedSlots(c, {&block});
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  mlir::Value active = notExited(c, loc);
  auto branch = c.make<scf::IfOp>(loc, ValueRange(before).getTypes(), active, true, true);
  auto buildArm = [&](mlir::Block *arm, bool run) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(arm);
    setSlots(slots, before);
    if (run)
      build();
    c.make<scf::YieldOp>(loc, slotValuesAs(c, slots, branch.getResultTypes(), loc));
  };
  buildArm(branch.thenBlock(), true);
  // What is skipped leaves all variables as they are.
  buildArm(branch.elseBlock(), false);
  setSlots(slots, branch.getResults());
}

} // namespace ptl::ir
