// Statements: blocks, `let`, `var`, expressions as statements, returns, jumps, asserts.
#include "frontend/sema/statements/check_stmt.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/value_bounds.h"
#include "frontend/sema/block/check_block_level.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/statements/check_assign.h"
#include "frontend/sema/statements/check_if.h"
#include "frontend/sema/statements/check_loop.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

// ---- let and var --------------------------------------------------------------------------------

/// The value of `let x: T = value` with its annotation applied; `*type` is that of the local.
static Expr *checkInitialValue(Context &ctx, NodeId typeNode, NodeId valueNode,
                               std::string_view what, const Type **type) {
  TypeAnnotation annotation;
  if (typeNode != kNoNode)
    annotation = resolveAnnotation(ctx, typeNode);
  // The annotation is the expected type, so that literals take its element type.
  Expr *value = valueNode == kNoNode ? nullptr : checkExpr(ctx, valueNode, annotation.type);
  if (value && value->type->kind == TypeKind::Void) {
    ctx.sink.report(DiagId::HasNoValue, value->span, {std::string(ctx.text(value->span))});
    value = errorExpr(ctx, valueNode);
  }
  if (value && annotation.type)
    value = convertTo(ctx, value, annotation.type, what);
  // An annotation in error gives way to the type of the value: uses of the local are still checked.
  *type = annotation.type && !annotation.type->isError() ? annotation.type
          : value                                        ? value->type
                                                         : errorType(ctx);
  // The place applies to an inferred type too.
  if ((*type)->isArray() &&
      (annotation.place != Place::Inferred || annotation.layout != Layout::Inferred))
    *type = withPlace(ctx, *type, annotation.place, annotation.layout);
  return value;
}

/// `let (v, i) = topk(p, 8)`
static void bindTuple(Context &ctx, LetStmt *let, NodeId pattern, const Type *type,
                      LocalKind kind) {
  auto names = TuplePatternView(ctx.tree, pattern).elements();
  bool fits = type->kind == TypeKind::Tuple && type->elements.size() == names.size();
  if (!fits && !type->isError()) {
    bool isTuple = type->kind == TypeKind::Tuple;
    auto report = ctx.sink.report(
        DiagId::TupleArity, ctx.span(pattern),
        {names.size() == 1 ? "one name" : std::to_string(names.size()) + " names",
         isTuple ? "has " + std::to_string(type->elements.size()) + " values" : "is not a tuple",
         toString(ctx, type)});
    if (!isTuple && names.size() == 1 && ctx.tree.is(names[0], NodeKind::Name))
      report.fix(FixId::DropParentheses,
                 "one value needs no tuple: `" + std::string(ctx.text(names[0])) + "`",
                 {{ctx.span(pattern), std::string(ctx.text(names[0]))}});
  }
  for (size_t i = 0; i < names.size(); ++i) {
    // Names of a pattern that does not fit get the type of errors, so that uses of them are silent.
    const Type *element = fits ? type->elements[i] : errorType(ctx);
    if (ctx.tree.is(names[i], NodeKind::TuplePattern)) {
      ctx.sink.report(DiagId::NestedPattern, ctx.span(names[i]), {});
      // Uses of the names in it are silent.
      for (NodeId inner : TuplePatternView(ctx.tree, names[i]).elements())
        if (ctx.tree.is(inner, NodeKind::Name))
          let->locals.push_back(
              declareLocal(ctx, kind, ctx.text(inner), ctx.span(inner), errorType(ctx), inner));
      continue;
    }
    let->locals.push_back(
        declareLocal(ctx, kind, ctx.text(names[i]), ctx.span(names[i]), element, names[i]));
    if (fits && !let->isVar && !isMissing(let->value))
      ctx.letParts[let->locals.back()] = {let->value, i};
  }
}

/// Types of variables that cannot hold what changes.
static bool canBeVar(Context &ctx, const Type *type, Span span) {
  bool can = type->kind != TypeKind::Range && type->kind != TypeKind::String &&
             type->kind != TypeKind::List;
  if (can)
    return true;
  auto report = ctx.sink.report(DiagId::CannotBeVar, span, {toString(ctx, type)});
  if (type->kind == TypeKind::List)
    helpWithList(report);
  return false;
}

static Stmt *checkLet(Context &ctx, NodeId node) {
  VarStmtView view(ctx.tree, node); // `let` and `var` share their slots
  // A fetch writes an element and binds its earlier value, so it becomes more than one statement.
  if (ctx.tree.is(node, NodeKind::LetStmt) && isFetch(ctx, view.value()))
    return checkFetch(ctx, node);
  auto *let = newStmt<LetStmt>(ctx, node);
  let->isVar = ctx.tree.is(node, NodeKind::VarStmt);
  LocalKind kind = let->isVar ? LocalKind::Var : LocalKind::Let;
  NodeId pattern = view.pattern();
  bool isTuple = ctx.tree.is(pattern, NodeKind::TuplePattern);
  std::string what =
      isTuple ? "the value" : "the value of `" + std::string(ctx.text(pattern)) + "`";
  const Type *type = nullptr;
  let->value = checkInitialValue(ctx, view.type(), view.value(), what, &type);
  // At the top of a kernel nothing runs on a core yet: only scalars can be computed, and not
  // changed.
  if (ctx.isKind(DeclKind::Kernel) && !ctx.inParallel() && !ctx.inSection &&
      (type->isArray() || let->isVar)) {
    ctx.sink
        .report(DiagId::OnlyScalarsBeforeParallel, ctx.span(node),
                {let->isVar ? "a `var`" : "`" + toString(ctx, type) + "`"})
        .help(let->isVar ? "declare it inside of the `parallel`, or with `let`"
                         : "compute it inside of the `parallel`");
    type = errorType(ctx);
  }
  if (let->isVar && !canBeVar(ctx, type, ctx.span(node)))
    type = errorType(ctx);
  if (isTuple) {
    bindTuple(ctx, let, pattern, type, kind);
    return let;
  }
  // A `let` of a dimension is that dimension; a variable changes, so it is none.
  Dim dim = !let->isVar && let->value && type->isInt() ? let->value->dim : Dim();
  Local *local = declareLocal(ctx, kind, ctx.text(pattern), ctx.span(pattern), type, pattern, dim);
  let->locals = {local};
  assumeBounds(ctx, local, let->value);
  // Only a `let` may be looked through later; what a variable holds depends on the place.
  if (!let->isVar && !isMissing(let->value))
    ctx.letValues[local] = let->value;
  return let;
}

/// `const` inside a body.
static Stmt *checkLocalConst(Context &ctx, NodeId node) {
  ConstDeclView view(ctx.tree, node);
  auto *let = newStmt<LetStmt>(ctx, node);
  const Type *type = view.type() == kNoNode ? nullptr : resolveType(ctx, view.type());
  auto value = evalConst(ctx, view.value());
  if (!value)
    ctx.sink.report(DiagId::NotAConstant, ctx.span(view.value()),
                    {std::string(ctx.text(view.name()))});
  // The value takes the annotated type, without which the literal decides.
  if (value && type && type->isScalar() && !type->elem.param)
    value->type = type->elem.kind;
  const Type *own = type ? type : value ? scalarType(ctx, defaultElem(*value)) : errorType(ctx);
  let->value = value ? makeConst(ctx, *value, own, view.value()) : errorExpr(ctx, view.value());
  Local *local = declareLocal(ctx, LocalKind::Const, ctx.text(view.name()), ctx.span(view.name()),
                              let->value->type, view.name(), let->value->dim);
  if (value)
    ctx.localConsts[local] = *value;
  let->locals = {local};
  return let;
}

// ---- Expressions as statements ------------------------------------------------------------------

static bool hasEffect(const Expr *expr) {
  if (expr->type->isError() || expr->type->kind == TypeKind::Void)
    return true;
  if (expr->kind == ExprKind::Op) {
    const OpRecord *op = cast<OpExpr>(expr)->op;
    // An operation without effect is a value that nobody uses.
    return op && (op->effect == OpEffect::InputOutput || op->effect == OpEffect::Write);
  }
  if (expr->kind != ExprKind::Call)
    return false;
  for (const CallArg &arg : cast<CallExpr>(expr)->args)
    if (arg.isInout)
      return true;
  return false;
}

static Stmt *exprStmt(Context &ctx, NodeId node, Expr *value) {
  auto *stmt = newStmt<ExprStmt>(ctx, node);
  stmt->value = value;
  // A bench times the calls in its body, so their values need no use.
  bool isTimed =
      ctx.isKind(DeclKind::Bench) && (value->kind == ExprKind::Call || value->kind == ExprKind::Op);
  if (hasEffect(value) || isTimed)
    return stmt;
  auto report = ctx.sink.report(DiagId::UnusedValue, value->span, {toString(ctx, value->type)});
  // `x == 1` as a statement most likely means an assignment.
  bool isEqual = value->kind == ExprKind::Op && cast<OpExpr>(value)->op->name == "==";
  if (isEqual && value->syntax != kNoNode)
    report.fix(FixId::Assignment, "assign with `=`", {{ctx.tree.mainSpan(value->syntax), "="}});
  // A value at the end of a `fn` is most likely the result.
  else if (ctx.inFn())
    report.fix(FixId::ReturnValue, "return it",
               {{{value->span.file, value->span.begin, value->span.begin}, "return "}});
  return stmt;
}

static Stmt *checkPrint(Context &ctx, NodeId node) {
  const OpRecord *op = findOps("print").empty() ? nullptr : findOps("print").front();
  OpExpr *print = makeOp(ctx, op, node, voidType(ctx), {});
  for (NodeId value : PrintStmtView(ctx.tree, node).values()) {
    if (ctx.tree.is(value, NodeKind::Arg))
      value = ArgView(ctx.tree, value).value();
    Expr *expr = checkExpr(ctx, value);
    if (expr->type->kind == TypeKind::Void || expr->type->kind == TypeKind::Range)
      ctx.sink.report(DiagId::OperandNotAllowed, expr->span,
                      {"print", "`" + toString(ctx, expr->type) + "`"});
    bool isValue = expr->type->isArray() || expr->type->isScalar();
    if (isValue && !expr->type->elem.param && isHeldOnly(expr->type->elem.kind))
      ctx.sink.report(DiagId::OnlyHeld, expr->span, {"print", toString(expr->type->elem)})
          .help("convert it first: `f32(x)`");
    // The first string is the message, which the operation takes as an operand of its own.
    bool isMessage = print->args.empty() && print->rest.empty() && expr->kind == ExprKind::String;
    if (isMessage)
      print->args = {expr, nullptr};
    else
      print->rest.push_back(expr);
  }
  // Without a message or arguments both operands are empty.
  print->args.resize(2, nullptr);
  auto *stmt = newStmt<ExprStmt>(ctx, node);
  stmt->value = print;
  return stmt;
}

static Stmt *checkAssert(Context &ctx, NodeId node) {
  AssertStmtView view(ctx.tree, node);
  auto *stmt = newStmt<AssertStmt>(ctx, node);
  stmt->condition = checkCondition(ctx, view.condition());
  stmt->text = ctx.text(view.condition());
  if (view.message() != kNoNode) {
    if (ctx.tree.is(view.message(), NodeKind::StringLiteral))
      stmt->message = stringLiteralValue(ctx.text(view.message()));
    else
      ctx.sink.report(DiagId::TextNeeded, ctx.span(view.message()), {"the message of an `assert`"});
  }
  // A condition that never holds is an error now; otherwise it holds behind the statement.
  if (conditionProof(ctx, stmt->condition) == Proof::False)
    ctx.sink.report(DiagId::AssertIsFalse, stmt->condition->span, {stmt->text});
  else if (!isMissing(stmt->condition))
    assumeCondition(ctx, stmt->condition);
  return stmt;
}

// ---- Jumps --------------------------------------------------------------------------------------

static Stmt *checkJump(Context &ctx, NodeId node, bool isBreak) {
  Stmt *stmt = nullptr;
  if (isBreak)
    stmt = newStmt<BreakStmt>(ctx, node);
  else
    stmt = newStmt<ContinueStmt>(ctx, node);
  std::string word = isBreak ? "break" : "continue";
  if (ctx.loops.empty()) {
    ctx.sink.report(DiagId::JumpOutsideLoop, ctx.span(node), {word});
    return stmt;
  }
  LoopFrame &loop = ctx.loops.back();
  loop.jumps = true;
  DiagId id = loop.isParallel() ? DiagId::JumpOutOfParallel : DiagId::JumpInPipeline;
  // In both cases iterations overlap or run elsewhere, so no iteration can end the loop for the
  // others.
  if (loop.isParallel() || loop.pipelined)
    ctx.sink.report(id, ctx.span(node), {word}).label(loop.span, "the loop");
  return stmt;
}

/// The declared results of the declaration.
static Span resultSpan(Context &ctx) {
  return ctx.span(CallableView(ctx.tree, ctx.decl->syntax).results());
}

Expr *convertToResult(Context &ctx, Expr *value, const Type *type, std::string_view what) {
  size_t before = ctx.sink.all().size();
  const Type *given = value->type;
  Expr *converted = convertTo(ctx, value, type, what);
  if (ctx.sink.all().size() != before + 1 || ctx.sink.all().back().id != DiagId::TypeMismatch)
    return converted;
  // The mistake may as well be in the header.
  Diagnostic &mismatch = ctx.sink.all().back();
  DiagnosticBuilder report(&mismatch);
  Span declared = resultSpan(ctx);
  if (declared.file != mismatch.span.file)
    return converted;
  report.label(declared, "the result is declared here");
  bool isLegal =
      given->isArray() &&
      std::none_of(given->extents.begin(), given->extents.end(), [](const Extent &extent) {
        return !extent.length || extent.length.constant().value_or(0) < 0;
      });
  if (isLegal && mismatch.fixes.empty())
    report.help("or declare the result as `-> " + toString(ctx, given) + "`");
  return converted;
}

static Stmt *checkReturn(Context &ctx, NodeId node) {
  NodeId valueNode = ReturnStmtView(ctx.tree, node).value();
  auto *stmt = newStmt<ReturnStmt>(ctx, node);
  // A `return` leaves all enclosing loops.
  for (LoopFrame &loop : ctx.loops)
    loop.returns = true;
  // One report is enough, although several loops may be parallel.
  bool inFn = ctx.inFn();
  for (const LoopFrame &loop : ctx.loops)
    // A value outside of a `fn` is reported below, and is the same mistake.
    if (loop.isParallel() && (inFn || valueNode == kNoNode)) {
      ctx.sink.report(DiagId::JumpOutOfParallel, ctx.span(node), {"return"})
          .label(loop.span, "the loop");
      break;
    }
  const Type *type = inFn && ctx.decl->returnType ? ctx.decl->returnType : nullptr;
  bool wantsValue = type && type->kind != TypeKind::Void && !type->isError();
  if (valueNode == kNoNode) {
    if (wantsValue)
      ctx.sink.report(DiagId::ReturnNeedsValue, ctx.span(node),
                      {ctx.decl->name, toString(ctx, type)});
    return stmt;
  }
  stmt->value = checkExpr(ctx, valueNode, type);
  if (!inFn)
    ctx.sink.report(DiagId::ReturnHasValue, ctx.span(valueNode), {})
        .help("assign the result to an output");
  else if (wantsValue)
    stmt->value = convertToResult(ctx, stmt->value, type, "the returned value");
  // A `fn` without a result may still say `return f()` where `f` has no value either.
  else if (type && !type->isError() && !stmt->value->type->isError() &&
           stmt->value->type->kind != TypeKind::Void)
    ctx.sink.report(DiagId::HasNoValue, ctx.span(valueNode), {ctx.decl->name})
        .help("declare the result type: `-> " + toString(ctx, stmt->value->type) + "`");
  return stmt;
}

// ---- Task blocks --------------------------------------------------------------------------------

static Stmt *checkTask(Context &ctx, NodeId node) {
  TaskStmtView view(ctx.tree, node);
  auto *stmt = newStmt<TaskStmt>(ctx, node);
  stmt->name = ctx.text(view.name());
  declareLabel(ctx, stmt->name, LabelKind::Task, ctx.span(view.name()));
  if (!ctx.inProgram() || ctx.inTask)
    ctx.sink.report(DiagId::StatementNotHere, ctx.span(node),
                    {"`task`", ctx.inTask ? "a `task`" : declKindText(ctx)});
  bool wasInTask = ctx.inTask;
  ctx.inTask = true;
  stmt->body = checkBlock(ctx, view.body(), false);
  ctx.inTask = wasInTask;
  return stmt;
}

std::string declKindText(Context &ctx) {
  if (!ctx.decl)
    return "this declaration";
  DeclKind kind = ctx.decl->kind;
  if (kind == DeclKind::Fn)
    return "a `fn`";
  // What holds for the body of a kernel holds for one whose body is elsewhere.
  if (kind == DeclKind::ExternKernel)
    kind = DeclKind::Kernel;
  return "a " + std::string(declKindName(kind));
}

// ---- Dispatch -----------------------------------------------------------------------------------

/// Outside of its `parallel`s a kernel computes scalars only.
static void checkKernelTop(Context &ctx, NodeId node) {
  if (!ctx.isKind(DeclKind::Kernel) || ctx.inParallel() || ctx.inSection)
    // Inside a `parallel` or a section the statements run on a core.
    return;
  // The loop around the statement was reported, which is the same mistake.
  if (!ctx.loops.empty())
    return;
  switch (ctx.tree.kind(node)) {
  case NodeKind::AssignStmt:
  case NodeKind::AtomicStmt:
  case NodeKind::ForStmt:
  case NodeKind::WhileStmt:
    ctx.sink.report(DiagId::OnlyScalarsBeforeParallel, ctx.span(node), {"this statement"})
        .help("put it in a `parallel`: one iteration works on one block of the result");
    return;
  default:
    return;
  }
}

Stmt *checkStmt(Context &ctx, NodeId node) {
  checkKernelTop(ctx, node);
  switch (ctx.tree.kind(node)) {
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
    return checkLet(ctx, node);
  case NodeKind::ConstDecl:
    return checkLocalConst(ctx, node);
  case NodeKind::AssignStmt:
    return checkAssign(ctx, node);
  case NodeKind::AtomicStmt:
    return checkAtomic(ctx, node);
  case NodeKind::ExprStmt:
    return exprStmt(ctx, node, checkExpr(ctx, ExprStmtView(ctx.tree, node).expr()));
  case NodeKind::ForStmt:
    return checkFor(ctx, node);
  case NodeKind::ParallelStmt:
    return checkParallel(ctx, node);
  case NodeKind::WhileStmt:
    return checkWhile(ctx, node);
  case NodeKind::If:
    return checkIf(ctx, node);
  case NodeKind::BreakStmt:
  case NodeKind::ContinueStmt:
    return checkJump(ctx, node, ctx.tree.is(node, NodeKind::BreakStmt));
  case NodeKind::ReturnStmt:
    return checkReturn(ctx, node);
  case NodeKind::AssertStmt:
    return checkAssert(ctx, node);
  case NodeKind::PrintStmt:
    return checkPrint(ctx, node);
  case NodeKind::TaskStmt:
    return checkTask(ctx, node);
  case NodeKind::Block: {
    auto *stmt = newStmt<BlockStmt>(ctx, node);
    stmt->block = checkBlock(ctx, node, false);
    return stmt;
  }
  case NodeKind::PipeStmt:
  case NodeKind::OnStmt:
  case NodeKind::BufferStmt:
  case NodeKind::EventStmt:
    return checkBlockLevelStmt(ctx, node);
  default:
    return newStmt<Stmt>(ctx, node); // the parser has reported it
  }
}

// ---- Blocks -------------------------------------------------------------------------------------

/// Whether both arms of an `if` end in a value.
static bool yieldsIf(Context &ctx, NodeId node);

/// Whether the last statement of a block is a value: an expression, or an `if` whose arms both end
/// in one.
static bool yieldsValue(Context &ctx, NodeId block) {
  if (!ctx.tree.is(block, NodeKind::Block) || ctx.tree.children(block).empty())
    return false;
  NodeId last = ctx.tree.children(block).back();
  if (ctx.tree.is(last, NodeKind::ExprStmt))
    return true;
  if (!ctx.tree.is(last, NodeKind::If))
    return false;
  IfView view(ctx.tree, last);
  NodeId otherwise = view.otherwise();
  bool elseYields =
      ctx.tree.is(otherwise, NodeKind::If) ? yieldsIf(ctx, otherwise) : yieldsValue(ctx, otherwise);
  return elseYields && yieldsValue(ctx, view.then());
}

static bool yieldsIf(Context &ctx, NodeId node) {
  IfView view(ctx.tree, node);
  NodeId otherwise = view.otherwise();
  bool elseYields =
      ctx.tree.is(otherwise, NodeKind::If) ? yieldsIf(ctx, otherwise) : yieldsValue(ctx, otherwise);
  return elseYields && yieldsValue(ctx, view.then());
}

static void append(Context &ctx, Block *block, Stmt *stmt) {
  // Implicit `let`s stand before the statement whose types speak of them.
  block->stmts.insert(block->stmts.end(), ctx.hoisted.begin(), ctx.hoisted.end());
  ctx.hoisted.clear();
  if (stmt)
    block->stmts.push_back(stmt);
}

/// The last expression of a block that is used as a value; statements without a value stay
/// statements.
static void checkValue(Context &ctx, Block *block, NodeId node, const Type *expected) {
  bool isExpr = ctx.tree.is(node, NodeKind::ExprStmt);
  Expr *value = isExpr ? checkExpr(ctx, ExprStmtView(ctx.tree, node).expr(), expected)
                       : checkIfValue(ctx, node, expected);
  // A value takes no statement of its own, but its implicit `let`s do.
  if (value->type->kind != TypeKind::Void) {
    append(ctx, block, nullptr);
    block->value = value;
  } else if (auto *ifExpr = dyn_cast<IfExpr>(value)) {
    // An `if` without a value is a statement after all.
    auto *stmt = newStmt<IfStmt>(ctx, node);
    stmt->condition = ifExpr->condition;
    stmt->thenBlock = ifExpr->thenBlock;
    stmt->elseBlock = ifExpr->elseBlock;
    stmt->isStatic = ctx.tree.has(node, NodeFlag::Static);
    append(ctx, block, stmt);
  } else {
    append(ctx, block, exprStmt(ctx, node, value));
  }
}

Block *checkBlock(Context &ctx, NodeId node, bool asValue, const Type *expected) {
  auto *block = ctx.program.make<Block>();
  if (node == kNoNode)
    return block;
  block->span = ctx.span(node);
  if (!ctx.tree.is(node, NodeKind::Block))
    return block;
  // Names, shared values and hoisted statements of this block end with it.
  ScopeGuard scope(ctx);
  HoistedValues::Scope values(ctx.hoistedValues);
  std::vector<Stmt *> outer;
  // Statements hoisted so far belong to a statement of the outer block.
  outer.swap(ctx.hoisted);
  bool couldHoist = ctx.canHoist;
  ctx.canHoist = true;
  auto stmts = ctx.tree.children(node);
  bool hasValue = asValue && yieldsValue(ctx, node);
  for (size_t i = 0; i < stmts.size(); ++i) {
    HoistedValues::Statement statement(ctx.hoistedValues);
    // Only the last statement may be the value.
    if (hasValue && i + 1 == stmts.size())
      checkValue(ctx, block, stmts[i], expected);
    else
      append(ctx, block, checkStmt(ctx, stmts[i]));
  }
  ctx.canHoist = couldHoist;
  ctx.hoisted = std::move(outer);
  return block;
}

} // namespace ptl
