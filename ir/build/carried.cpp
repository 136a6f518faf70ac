// Finds the locals that regions of control flow assign.
#include "ir/build/carried.h"

#include "frontend/sema/walk.h"

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
    visit(block.value, inInnerLoop);
  }

  void assign(Local *target) {
    if (target && assigned.insert(target).second)
      order.push_back(target);
  }

  /// A call assigns its `inout` arguments, wherever in an expression it stands.
  void visit(const Expr *expr, bool inInnerLoop) {
    forEachExpr(expr, [&](const Expr *part) {
      if (part->kind == ExprKind::Call)
        for (const CallArg &arg : cast<CallExpr>(part)->args)
          // An assignment to a part assigns the whole variable.
          if (arg.isInout)
            assign(rootLocal(arg.value));
      // The walk over expressions does not enter the blocks of an `if`.
      if (part->kind == ExprKind::If)
        visitIf(*cast<IfExpr>(part), inInnerLoop);
    });
  }

  void visitIf(const IfExpr &expr, bool inInnerLoop) {
    visit(*expr.thenBlock, inInnerLoop);
    if (expr.elseBlock)
      visit(*expr.elseBlock, inInnerLoop);
  }

  void visit(const Stmt &stmt, bool inInnerLoop) {
    // A section gives no values, so nothing of what it assigns can be carried out of it.
    if (stmt.kind == StmtKind::OnSection)
      return;
    bool isLoop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
                  stmt.kind == StmtKind::Parallel;
    // Locals that are declared inside end there, so nothing carries them out.
    if (stmt.kind == StmtKind::Let)
      for (const Local *local : cast<LetStmt>(stmt).locals)
        declared.insert(local);
    // A jump in an inner loop does not leave the outer one.
    forEachPart(
        stmt, [&](const Expr *expr) { visit(expr, inInnerLoop); },
        [&](const ptl::Block *block) { visit(*block, inInnerLoop || isLoop); });
    if (stmt.kind == StmtKind::Assign)
      assign(cast<AssignStmt>(stmt).target);
    if (stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Continue)
      exits |= !inInnerLoop;
    // A `return` leaves every loop around it.
    if (stmt.kind == StmtKind::Return)
      exits = returns = true;
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

Slots assignedSlots(BuildContext &c, const std::vector<const ptl::Block *> &blocks,
                    const Expr *condition) {
  Collector collector;
  for (const ptl::Block *block : blocks)
    if (block)
      collector.visit(*block, false);
  collector.visit(condition, false);
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
