// Finds the locals that regions of control flow assign.
#include "ir/build/carried.h"

#include <set>

using namespace mlir;

namespace ptl::ir {

namespace {

/// Collects the locals that statements assign, and whether they break or continue the loop around
/// them.
struct Collector {
  std::set<const Local *> assigned;
  std::set<const Local *> declared;
  std::vector<Local *> order;
  bool exits = false;
  bool returns = false;

  void visit(const ptl::Block &block, bool inInnerLoop) {
    for (const Stmt *stmt : block.stmts)
      visit(*stmt, inInnerLoop);
    visitCalls(block.value);
    if (block.value && block.value->kind == ExprKind::If)
      visitIf(cast<IfExpr>(*block.value), inInnerLoop);
  }

  void assign(Local *target) {
    if (target && assigned.insert(target).second)
      order.push_back(target);
  }

  /// A call assigns its `inout` arguments.
  void visitCalls(const Expr *expr) {
    if (!expr)
      return;
    if (expr->kind == ExprKind::Op)
      for (const Expr *arg : cast<OpExpr>(expr)->args)
        visitCalls(arg);
    if (expr->kind == ExprKind::Convert)
      visitCalls(cast<ConvertExpr>(expr)->arg);
    if (expr->kind != ExprKind::Call)
      return;
    for (const CallArg &arg : cast<CallExpr>(expr)->args) {
      const Expr *place = arg.value;
      // An assignment to a part assigns the whole variable.
      if (arg.isInout && place->kind == ExprKind::Index)
        place = cast<IndexExpr>(place)->base;
      if (arg.isInout && place->kind == ExprKind::LocalRef)
        assign(cast<LocalRefExpr>(place)->local);
      if (!arg.isInout)
        visitCalls(arg.value);
    }
  }

  void visitIf(const IfExpr &expr, bool inInnerLoop) {
    visit(*expr.thenBlock, inInnerLoop);
    if (expr.elseBlock)
      visit(*expr.elseBlock, inInnerLoop);
  }

  void visit(const Stmt &stmt, bool inInnerLoop) {
    switch (stmt.kind) {
    case StmtKind::Let:
      // Locals that are declared inside end there, so nothing carries them out.
      for (const Local *local : cast<LetStmt>(stmt).locals)
        declared.insert(local);
      return visitCalls(cast<LetStmt>(stmt).value);
    case StmtKind::Assign:
      visitCalls(cast<AssignStmt>(stmt).value);
      return assign(cast<AssignStmt>(stmt).target);
    case StmtKind::For:
      // A jump in an inner loop does not leave the outer one.
      return visit(*cast<ForStmt>(stmt).body, true);
    case StmtKind::While:
      return visit(*cast<WhileStmt>(stmt).body, true);
    case StmtKind::Parallel:
      return visit(*cast<ParallelStmt>(stmt).body, true);
    case StmtKind::If: {
      const auto &branch = cast<IfStmt>(stmt);
      visit(*branch.thenBlock, inInnerLoop);
      if (branch.elseBlock)
        visit(*branch.elseBlock, inInnerLoop);
      return;
    }
    case StmtKind::Task:
      return visit(*cast<TaskStmt>(stmt).body, inInnerLoop);
    case StmtKind::Block:
      return visit(*cast<BlockStmt>(stmt).block, inInnerLoop);
    case StmtKind::ExprStmt:
      if (const Expr *value = cast<ExprStmt>(stmt).value; value->kind == ExprKind::If)
        visitIf(cast<IfExpr>(*value), inInnerLoop);
      else
        visitCalls(value);
      return;
    case StmtKind::Break:
    case StmtKind::Continue:
      // A jump leaves the innermost loop only.
      exits |= !inInnerLoop;
      return;
    case StmtKind::Return:
      exits = returns = true; // It leaves every loop around it.
      return;
    default:
      return;
    }
  }
};

} // namespace

void addSlots(Bound &bound, Slots &slots) {
  // Storage is not carried: it is changed in place.
  if (bound.kind == Bound::Kind::Value && !isa<RefType>(bound.value.getType()))
    slots.push_back(&bound.value);
  for (Bound &part : bound.parts)
    addSlots(part, slots);
}

Slots assignedSlots(BuildContext &c, const std::vector<const ptl::Block *> &blocks) {
  Collector collector;
  for (const ptl::Block *block : blocks)
    if (block)
      collector.visit(*block, false);
  // As they are declared, so that the order does not depend on how the body is written.
  llvm::sort(collector.order, [](const Local *a, const Local *b) { return a->index < b->index; });
  Slots slots;
  for (Local *local : collector.order)
    if (!collector.declared.count(local))
      addSlots(c.bound(*local), slots);
  // With jumps the flags that say so are carried as well.
  if (collector.exits && c.exits) {
    slots.push_back(&c.exits->broke);
    slots.push_back(&c.exits->continued);
  }
  if (collector.returns && c.returnSlot) {
    slots.push_back(&c.returnSlot->flag);
    addSlots(c.returnSlot->value, slots);
  }
  return slots;
}

llvm::SmallVector<mlir::Value> slotValues(const Slots &slots) {
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Value *slot : slots)
    values.push_back(*slot);
  return values;
}

void setSlots(const Slots &slots, ValueRange values) {
  for (auto [slot, value] : llvm::zip(slots, values))
    *slot = value;
}

llvm::SmallVector<mlir::Value> slotValuesAs(BuildContext &c, const Slots &slots, TypeRange types,
                                            Location loc) {
  llvm::SmallVector<mlir::Value> values;
  for (auto [slot, type] : llvm::zip(slots, types))
    values.push_back(castTo(c, *slot, type, loc));
  return values;
}

mlir::Value castTo(BuildContext &c, mlir::Value value, mlir::Type type, Location loc) {
  if (value.getType() == type || !isa<ArrayType>(type))
    return value;
  return c.make<CastOp>(loc, type, value);
}

void nameArgument(BlockArgument argument, llvm::StringRef name) {
  if (!name.empty())
    argument.setLoc(NameLoc::get(StringAttr::get(argument.getContext(), name), argument.getLoc()));
}

void nameArguments(BuildContext &c, const Slots &slots, mlir::Block::BlockArgListType arguments) {
  for (auto [slot, argument] : llvm::zip(slots, arguments))
    // Slots are addresses of values in the frame, which tells their locals.
    for (const Local *local : c.frame->decl->locals)
      if (&c.frame->locals[local->index].value == slot)
        nameArgument(argument, local->name);
}

} // namespace ptl::ir
