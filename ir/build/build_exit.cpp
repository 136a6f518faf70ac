// `break`, `continue` and `return` inside loops: structured control flow has no jumps, so each sets
// a flag that the loop carries, and what follows in the same iteration runs only while no flag is
// set.
#include "ir/build/build_context.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

bool Builder::mayExit(const ptl::Block &block) {
  return llvm::any_of(block.stmts, [](const Stmt *stmt) { return mayExit(*stmt); });
}

bool Builder::mayExit(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Break:
  case StmtKind::Continue:
    return true;
  case StmtKind::If: {
    const auto &branch = static_cast<const IfStmt &>(stmt);
    return mayExit(*branch.thenBlock) || (branch.elseBlock && mayExit(*branch.elseBlock));
  }
  case StmtKind::Block:
    return mayExit(*static_cast<const BlockStmt &>(stmt).block);
  case StmtKind::Task:
    return mayExit(*static_cast<const TaskStmt &>(stmt).body);
  default:
    return false;
  }
}

bool Builder::mayReturn(const Stmt &stmt) {
  auto any = [](const ptl::Block *block) {
    return block && llvm::any_of(block->stmts, [](const Stmt *s) { return mayReturn(*s); });
  };
  switch (stmt.kind) {
  case StmtKind::Return:
    return true;
  case StmtKind::If: {
    const auto &branch = static_cast<const IfStmt &>(stmt);
    return any(branch.thenBlock) || any(branch.elseBlock);
  }
  case StmtKind::Block:
    return any(static_cast<const BlockStmt &>(stmt).block);
  case StmtKind::For:
    return any(static_cast<const ForStmt &>(stmt).body);
  case StmtKind::While:
    return any(static_cast<const WhileStmt &>(stmt).body);
  default:
    return false;
  }
}

void Builder::setExit(mlir::Value ExitFlags::*flag, Location loc) {
  if (exits_)
    (*exits_).*flag = make<arith::ConstantIntOp>(loc, 1, 1);
}

/// A `return` in an inner loop leaves the outer one too.
void Builder::leaveOuterLoop(Location loc) {
  if (returnSlot_ && exits_)
    exits_->broke = builder_.createOrFold<arith::OrIOp>(loc, exits_->broke, returnSlot_->flag);
}

mlir::Value Builder::notExited(Location loc) {
  mlir::Value exited = builder_.createOrFold<arith::OrIOp>(loc, exits_->broke, exits_->continued);
  mlir::Value one = make<arith::ConstantIntOp>(loc, 1, 1);
  return builder_.createOrFold<arith::XOrIOp>(loc, exited, one);
}

} // namespace ptl::ir
