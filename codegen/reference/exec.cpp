// Statements.
#include "codegen/reference/machine.h"

#include <algorithm>

namespace ptl::reference {

Flow Machine::exec(const Block &block) {
  for (const Stmt *stmt : block.stmts)
    if (Flow flow = exec(*stmt); flow != Flow::Next)
      return flow;
  return Flow::Next;
}

Flow Machine::exec(const Stmt &stmt) {
  // Blocks alone are no step.
  if (!options_.observer || stmt.kind == StmtKind::Block)
    return execStmt(stmt);
  return observed(stepOf(stmt), [&] { return execStmt(stmt); });
}

Flow Machine::execStmt(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Let:
    execLet(cast<LetStmt>(stmt));
    return Flow::Next;
  case StmtKind::Assign:
    execAssign(cast<AssignStmt>(stmt));
    return Flow::Next;
  case StmtKind::ExprStmt:
    eval(*cast<ExprStmt>(stmt).value);
    return Flow::Next;
  case StmtKind::For:
    return execFor(cast<ForStmt>(stmt));
  case StmtKind::Parallel:
    execParallel(cast<ParallelStmt>(stmt));
    return Flow::Next;
  case StmtKind::While:
    return execWhile(cast<WhileStmt>(stmt));
  case StmtKind::If: {
    const auto &branch = cast<IfStmt>(stmt);
    bool holds = evalBool(*branch.condition);
    noteArm(&stmt, holds ? Arm::Then : Arm::Else);
    const Block *block = holds ? branch.thenBlock : branch.elseBlock;
    return block ? exec(*block) : Flow::Next;
  }
  case StmtKind::Break:
    return Flow::Break;
  case StmtKind::Continue:
    return Flow::Continue;
  case StmtKind::Return:
    if (const Expr *value = cast<ReturnStmt>(stmt).value)
      frame_->returned = eval(*value);
    return Flow::Return;
  case StmtKind::Assert:
    execAssert(cast<AssertStmt>(stmt));
    return Flow::Next;
  case StmtKind::Task:
    return exec(*cast<TaskStmt>(stmt).body);
  case StmtKind::Block:
    return exec(*cast<BlockStmt>(stmt).block);
  case StmtKind::BlockDecl:
  case StmtKind::OnSection:
    stop(RunStatus::Unsupported, "sections are block level, which target `reference` cannot run",
         stmt.span);
  case StmtKind::Error:
    break;
  }
  stop(RunStatus::Unsupported, "this statement has errors", stmt.span);
}

// ---- Bindings ----------------------------------------------------------------------------------

/// A local, and the symbols that stand for it in dimensions.
void Machine::bindLocal(const Local &which, Value value) {
  if (which.symbol && value.isScalar())
    bindSymbol(*which.symbol, value.asScalar().scalar.i);
  if (value.isRange() && which.type->range) {
    const RangeInfo &info = *which.type->range;
    const RangeValue &range = value.asRange();
    auto bind = [&](Dim dim, int64_t number) {
      if (auto symbol = dim ? dim.symbol() : std::nullopt)
        bindSymbol(*symbol, number);
    };
    bind(info.start, range.start);
    bind(info.length, range.length);
    bind(info.count, range.count);
  }
  local(which) = std::move(value);
}

/// The value of a variable without an initial value: every read of it stops the run.
Value Machine::undefinedOf(const Type &type) {
  if (type.isArray())
    return Value::array(undefinedArray(elemOf(type.elem), shapeOf(type)));
  if (type.kind == TypeKind::Tuple) {
    Value::Parts parts;
    for (const Type *element : type.elements)
      parts.push_back(undefinedOf(*element));
    return Value::parts(std::move(parts));
  }
  return Value::undefined();
}

void Machine::execLet(const LetStmt &stmt) {
  if (!stmt.value) {
    for (const Local *each : stmt.locals)
      bindLocal(*each, undefinedOf(*each->type));
    return;
  }
  Value value = eval(*stmt.value);
  if (stmt.locals.size() == 1) {
    // A declared array type may repeat what it is given.
    const Type &type = *stmt.locals[0]->type;
    if (type.isArray() && (value.isScalar() || value.isArray()))
      if (std::vector<int64_t> shape = shapeOf(type, stmt.span);
          !std::equal(shape.begin(), shape.end(), value.shape().begin(), value.shape().end()))
        value = broadcastValue(value, std::move(shape));
    bindLocal(*stmt.locals[0], std::move(value));
    return;
  }
  if (!value.isParts() || value.asParts().size() != stmt.locals.size())
    stop(RunStatus::Fault, "a tuple does not come apart into the names", stmt.span);
  for (size_t i = 0; i < stmt.locals.size(); ++i)
    bindLocal(*stmt.locals[i], value.asParts()[i]);
}

// ---- Assignments -------------------------------------------------------------------------------

void Machine::execAssign(const AssignStmt &stmt) {
  Value value = eval(*stmt.value);
  if (stmt.place) {
    // Positions are evaluated before the target is taken for writing: they may read it.
    const Value *base = peek(*stmt.place->base);
    if (!base || !base->isArray())
      stop(RunStatus::Fault, "the target of an assignment by index is no array", stmt.span);
    Region region = regionOf(*stmt.place, base->shape(), true);
    writeRegion(place(*stmt.place->base).mutableArray(), region, value, stmt.mode, stmt.span);
    return;
  }
  Value &target = local(*stmt.target);
  if (target.isArray()) {
    std::span<const int64_t> shape = target.shape();
    if (stmt.mode != AssignMode::Set) {
      Region region;
      for (size_t i = 0; i < shape.size(); ++i)
        region.axes.push_back({static_cast<int64_t>(i), 0, 1, shape[i], false, false});
      writeRegion(target.mutableArray(), region, value, stmt.mode, stmt.span);
      return;
    }
    if (!std::equal(shape.begin(), shape.end(), value.shape().begin(), value.shape().end()))
      value = broadcastValue(value, {shape.begin(), shape.end()});
  } else if (stmt.mode != AssignMode::Set && target.isScalar()) {
    OpId op = stmt.mode == AssignMode::AtomicAdd   ? OpId::Add
              : stmt.mode == AssignMode::AtomicMax ? OpId::Max
                                                   : OpId::Min;
    Value args[] = {target, value};
    value = elementwise(op, args);
  }
  target = std::move(value);
}

void Machine::execAssert(const AssertStmt &stmt) {
  if (evalBool(*stmt.condition))
    return;
  std::string message = stmt.message.empty() ? "`" + stmt.text + "` does not hold" : stmt.message;
  stop(RunStatus::Assert, message + comparedText(*stmt.condition), stmt.condition->span);
}

} // namespace ptl::reference
