#include "frontend/sema/statements/check_assign.h"

#include "frontend/sema/calls/check_call.h"
#include "frontend/sema/declarations/check_packed.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/check_index.h"
#include "frontend/sema/expressions/check_operator.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

namespace ptl {

static std::string_view kindText(const Local &local) { return localKindName(local.kind); }

/// Whether no parallel loop of this kind is between a local and an assignment to it; reports otherwise.
static bool isAssignedInside(Context &ctx, const Local &local, Span span, LoopKind kind) {
  for (const LoopFrame &loop : ctx.loops)
    // Points of a grid run in any order or at the same time, so a variable outside of it has no
    // defined value.
    if (loop.kind == kind && local.index < loop.firstLocal) {
      ctx.sink.report(DiagId::OuterVarInParallel, span, {local.name})
          .label(local.span, "declared outside")
          .label(loop.span, "iterations run in any order");
      return false;
    }
  return true;
}

/// Whether a local may be written; reports otherwise.
static bool checkAssignable(Context &ctx, const Local &local, Span span) {
  bool assignable =
      local.kind == LocalKind::Var || local.kind == LocalKind::Output || local.isInout;
  if (!assignable) {
    auto report =
        ctx.sink.report(DiagId::NotAssignable, span, {local.name, std::string(kindText(local))});
    report.label(local.span, "declared here");
    std::string_view text = ctx.tree.fileText();
    // The fix is offered only where the keyword directly precedes the name.
    bool isLet = local.kind == LocalKind::Let && local.span.begin >= 4 &&
                 text.substr(local.span.begin - 4, 4) == "let ";
    if (isLet)
      report.fix(FixId::MakeVar, "declare it as `var`",
                 {{{local.span.file, local.span.begin - 4, local.span.begin - 1}, "var"}});
    else if (local.kind == LocalKind::Param)
      report.help("a parameter that is changed is `inout`: `" + local.name + ": inout …`");
    return false;
  }
  if (local.kind != LocalKind::Var)
    return true;
  return isAssignedInside(ctx, local, span, LoopKind::Parallel);
}

/// The written place: its local, its index expression, and what type it holds.
static bool resolvePlaceOf(Context &ctx, AssignStmt *stmt, NodeId targetNode, const Type **type) {
  Expr *target = checkTarget(ctx, targetNode);
  if (isMissing(target))
    return false;
  // What is written is the array at the root of the place.
  stmt->target = rootLocal(target);
  if (!stmt->target) {
    ctx.sink.report(DiagId::NotAPlace, target->span, {});
    return false;
  }
  if (!checkAssignable(ctx, *stmt->target, target->span))
    return false;
  bool indexed = target->kind == ExprKind::Index;
  // Of arrays outside of a `parallel` over parts each part has its elements.
  if (!indexed && !isAssignedInside(ctx, *stmt->target, target->span, LoopKind::Parts))
    return false;
  if (!indexed && target->kind != ExprKind::LocalRef) {
    ctx.sink.report(DiagId::NotAPlace, target->span, {})
        .note("a field of a struct cannot be assigned as a whole, only its elements by index");
    return false;
  }
  // In a kernel a tensor in global memory is never written as a whole by one iteration.
  if (!indexed && ctx.isKind(DeclKind::Kernel) && target->type->isArray() &&
      stmt->target->kind != LocalKind::Var) {
    Span span = target->span;
    std::string index = suggestIndex(ctx, *target->type);
    ctx.sink.report(DiagId::TensorMustBeIndexed, span, {stmt->target->name})
        .label(stmt->target->span, "`" + stmt->target->name + "` lies in global memory")
        .fix(FixId::IndexOfIteration,
             "index the part that this iteration writes: `" + stmt->target->name + index + "`",
             {{{span.file, span.end, span.end}, index}});
    return false;
  }
  stmt->place = indexed ? cast<IndexExpr>(target) : nullptr;
  // Only arrays of the caller are memory that other iterations see.
  bool isOutside = stmt->target->kind == LocalKind::Output || stmt->target->isInout;
  stmt->isStore = isOutside && stmt->place != nullptr;
  // The type as written has all axes of an index array, which the value is checked against.
  auto written = ctx.writtenTypes.find(stmt->place);
  *type = written == ctx.writtenTypes.end() ? target->type : written->second;
  return true;
}

/// A value that goes through an index array of several axes, with one axis for them: as the place
/// has it.
static Expr *flattened(Context &ctx, const AssignStmt *stmt, Expr *value) {
  const IndexExpr *place = stmt->place;
  auto found = ctx.writtenTypes.find(place);
  if (found == ctx.writtenTypes.end() || isMissing(value) || !value->type->isArray())
    return value;
  Shape written = shapeOf(found->second);
  // Behind the index array places and values have the same axes.
  // Only axes behind the last index array are counted, so this starts again at each.
  size_t behind = 0;
  for (const IndexItem &item : place->items)
    behind = item.kind == IndexItemKind::Gather     ? 0
             : item.kind == IndexItemKind::Rest     ? behind + item.restCount
             : item.kind == IndexItemKind::Position ? behind
                                                    : behind + 1;
  Shape shape = shapeOf(value->type);
  // A value without axes for the positions is the same at each of them.
  if (!shape.prefix && shape.rank() <= behind)
    return value;
  if (!sameShape(ctx, shape, written))
    value = repeated(ctx, value, written);
  return reshaped(ctx, value, shapeOf(place->type));
}

/// Reports a value that does not fit the place it is assigned to.
static void reportUnfit(Context &ctx, const AssignStmt *stmt, const Expr *value, const Type *type,
                        const ExtentMismatch *mismatch) {
  auto report =
      ctx.sink.report(DiagId::ValueDoesNotFit, value->span,
                      {toString(ctx, value->type), toString(ctx, type), stmt->target->name});
  report.label(stmt->target->span, stmt->target->name + ": " + toString(ctx, stmt->target->type));
  if (mismatch && !mismatch->rankDiffers)
    explainExtents(ctx, report, mismatch->a, mismatch->b);
  bool elemDiffers =
      (value->type->isScalar() || value->type->isArray()) && !(value->type->elem == type->elem);
  if (!elemDiffers) {
    offerWithoutKeptAxes(ctx, report, value, type);
    if (!stmt->place && value->type->isScalar() && type->isArray())
      report.help("`" + stmt->target->name + "[..] = …` assigns it to every element");
    return;
  }
  // The value of `x += e` is the whole statement, in which `e` is what can be converted.
  Span written = ctx.span(AssignStmtView(ctx.tree, stmt->syntax).value());
  offerConversion(ctx, report, written, value->type->elem, type->elem);
}

/// The value as the place takes it: equal element types; extents of 1, missing axes and scalars
/// repeat when the place is indexed or an output.
static Expr *fitValue(Context &ctx, const AssignStmt *stmt, Expr *value, const Type *type) {
  if (isMissing(value) || type->isError())
    return value;
  // An `int` adapts to the element type of the place.
  if (value->type->isInt() && (type->isScalar() || type->isArray()) &&
      elemIs(type->elem, ElemConstraint::Integer))
    value = convertInt(ctx, value, type->elem);
  bool numeric =
      (value->type->isScalar() || value->type->isArray()) && (type->isScalar() || type->isArray());
  // Structs and tuples take no part in broadcasting.
  if (!numeric)
    return convertTo(ctx, value, type, "the value of `" + stmt->target->name + "`");
  ExtentMismatch mismatch;
  // A variable keeps its shape; only memory may be filled from less.
  bool repeats = stmt->place || stmt->target->kind == LocalKind::Output;
  bool elemFits = value->type->elem == type->elem;
  bool shapeFits = repeats ? broadcastsTo(ctx, shapeOf(value->type), shapeOf(type), &mismatch)
                           : sameShape(ctx, shapeOf(value->type), shapeOf(type));
  if (elemFits && shapeFits)
    return value;
  // A variable takes only its own shape. The extents that clash are named only if the value could
  // not even repeat.
  if (!repeats && elemFits && !broadcastsTo(ctx, shapeOf(value->type), shapeOf(type), &mismatch)) {
    reportUnfit(ctx, stmt, value, type, &mismatch);
    return errorExpr(ctx, value->syntax);
  }
  reportUnfit(ctx, stmt, value, type, elemFits && repeats ? &mismatch : nullptr);
  return errorExpr(ctx, value->syntax);
}

/// The old value of the place, read again for `x += e`.
static Operand oldValue(Context &ctx, const AssignStmt *stmt, NodeId node) {
  Operand operand;
  operand.node = node;
  operand.span = ctx.span(node);
  if (!stmt->place) {
    operand.expr = refTo(ctx, stmt->target, node);
    return operand;
  }
  // The place is read again with the same positions.
  IndexExpr *read = ctx.program.make<IndexExpr>(*stmt->place);
  read->isLoad = ctx.inKernel() && stmt->isStore;
  auto written = ctx.writtenTypes.find(stmt->place);
  operand.expr =
      written == ctx.writtenTypes.end() ? read : reshaped(ctx, read, shapeOf(written->second));
  return operand;
}

Stmt *checkAssign(Context &ctx, NodeId node) {
  AssignStmtView view(ctx.tree, node);
  auto *stmt = newStmt<AssignStmt>(ctx, node);
  const Type *type = errorType(ctx);
  std::string_view text = ctx.tree.mainText(node);
  // The place is checked first, so that its type is expected of the value.
  bool placed = resolvePlaceOf(ctx, stmt, view.target(), &type);
  if (text == "=") {
    stmt->value = checkExpr(ctx, view.value(), placed ? type : nullptr);
    if (placed && stmt->value->type->kind == TypeKind::Void) {
      ctx.sink.report(DiagId::HasNoValue, stmt->value->span, {std::string(ctx.text(view.value()))});
      stmt->value = errorExpr(ctx, view.value());
    }
    if (placed)
      stmt->value = fitValue(ctx, stmt, stmt->value, type);
  } else {
    Operand operand = checkOperand(ctx, view.value(), placed ? type : nullptr);
    if (placed) {
      std::string_view spelling = text.substr(0, text.size() - 1);
      Expr *value =
          checkOperator(ctx, node, spelling, {oldValue(ctx, stmt, view.target()), operand});
      // The update is noted, so that `x += e` can be recognised further on.
      if (value->kind == ExprKind::Op)
        stmt->updateOp = cast<OpExpr>(value)->op;
      stmt->value = fitValue(ctx, stmt, value, type);
    } else {
      stmt->value = settle(ctx, operand);
    }
  }
  stmt->value = placed ? flattened(ctx, stmt, stmt->value) : stmt->value;
  // Values that were computed from this variable no longer hold.
  if (placed && stmt->target->type->isInt())
    ctx.hoistedValues.change();
  // Later phases skip statements in error.
  if (!placed || isMissing(stmt->value))
    stmt->kind = StmtKind::Error;
  return stmt;
}

Stmt *checkAtomic(Context &ctx, NodeId node) {
  AtomicStmtView view(ctx.tree, node);
  auto *stmt = newStmt<AssignStmt>(ctx, node);
  std::string_view op = ctx.tree.mainText(node);
  // Addition is the mode without a word.
  stmt->mode = op == "max"   ? AssignMode::AtomicMax
               : op == "min" ? AssignMode::AtomicMin
                             : AssignMode::AtomicAdd;
  const Type *type = errorType(ctx);
  bool placed = resolvePlaceOf(ctx, stmt, view.target(), &type);
  Expr *value = checkExpr(ctx, view.value(), placed ? type : nullptr);
  // A variable belongs to one iteration, so there is nothing to protect.
  if (placed && (!ctx.inKernel() || stmt->target->kind == LocalKind::Var)) {
    ctx.sink.report(DiagId::AtomicTarget, ctx.span(view.target()), {"atomic"})
        .note("`atomic` is for elements of an output or `inout` that several iterations of a "
              "kernel update");
    placed = false;
  }
  placed = placed && checkAtomicElements(ctx, *stmt->target, ctx.span(view.target()));
  stmt->value = placed ? flattened(ctx, stmt, fitValue(ctx, stmt, value, type)) : value;
  if (placed && !elemIs(type->elem, ElemConstraint::Number) && !isMissing(stmt->value))
    ctx.sink.report(DiagId::ElementTypeNotAllowed, ctx.span(view.target()),
                    {"atomic", "number", toString(ctx, type)});
  if (!placed || isMissing(stmt->value))
    stmt->kind = StmtKind::Error;
  ctx.runsInOrder |= ctx.state.options.deterministic;
  return stmt;
}

// ---- What an atomic replaces --------------------------------------------------------------------

static std::optional<AssignMode> fetchMode(std::string_view name) {
  return name == "fetch_add"   ? std::optional(AssignMode::AtomicAdd)
         : name == "fetch_max" ? std::optional(AssignMode::AtomicMax)
         : name == "fetch_min" ? std::optional(AssignMode::AtomicMin)
                               : std::nullopt;
}

bool isFetch(Context &ctx, NodeId node) {
  node = node == kNoNode ? node : skipParens(ctx, node);
  if (node == kNoNode || !ctx.tree.is(node, NodeKind::CallExpr))
    return false;
  NodeId callee = CallExprView(ctx.tree, node).callee();
  // A declaration of the same name hides the built-in.
  return ctx.tree.is(callee, NodeKind::NameExpr) && fetchMode(ctx.text(callee)) &&
         !lookupCallable(ctx, ctx.text(callee));
}

/// Whether a place is one element.
static bool isElement(const AssignStmt &stmt) {
  return stmt.place ? stmt.place->type->isScalar() : stmt.target->type->isScalar();
}

/// Reports what is wrong with the place of a fetch.
static bool checkFetchPlace(Context &ctx, const CallArgument &place, const AssignStmt &stmt,
                            const std::string &name) {
  Span span = ctx.span(place.value);
  if (!place.isInout) {
    ctx.sink.report(DiagId::InoutNotMarked, place.span, {name, stmt.target->name})
        .fix(FixId::MarkInout, "mark it with `inout`, because the call changes it",
             {{{span.file, span.begin, span.begin}, "inout "}});
    return false;
  }
  // A fetch is only meaningful where several iterations update one element.
  if (!ctx.isKind(DeclKind::Kernel) || !ctx.inParallel() || !stmt.isStore) {
    ctx.sink.report(DiagId::AtomicTarget, span, {name})
        .note("`" + name +
              "` is for an element of an output or `inout` that several iterations "
              "of a kernel update");
    return false;
  }
  if (isElement(stmt) && elemIs(stmt.place->type->elem, ElemConstraint::Number))
    return true;
  ctx.sink
      .report(DiagId::OperandNotAllowed, span, {name, "`" + toString(ctx, stmt.place->type) + "`"})
      .help("it replaces one number at a time: `" + name + "(inout y[i], v)`");
  return false;
}

/// The element, then what is put in its place. Both are one turn: a grid with one runs in order.
Stmt *checkFetch(Context &ctx, NodeId node) {
  LetStmtView view(ctx.tree, node);
  NodeId call = skipParens(ctx, view.value());
  std::string name(ctx.text(CallExprView(ctx.tree, call).callee()));
  std::vector<CallArgument> args = callArguments(ctx, call);
  auto *turn = newStmt<BlockStmt>(ctx, node);
  turn->block = ctx.program.make<Block>();
  auto *let = newStmt<LetStmt>(ctx, node);
  auto *assign = newStmt<AssignStmt>(ctx, node);
  const Type *type = errorType(ctx);
  bool isCall = args.size() == 2 && args[0].name.empty() && args[1].name.empty();
  if (!isCall)
    ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(call),
                    {name, "an element and a value", std::to_string(args.size())});
  bool placed = isCall && resolvePlaceOf(ctx, assign, args[0].value, &type) &&
                checkFetchPlace(ctx, args[0], *assign, name);
  Expr *value = placed ? checkExpr(ctx, args[1].value, type) : nullptr;
  value = placed ? fitValue(ctx, assign, value, type) : errorExpr(ctx, node);
  placed = placed && !isMissing(value);
  if (placed)
    // The old value is read before the assignment.
    let->value = oldValue(ctx, assign, args[0].value).expr;
  // The name is bound even after an error, so that uses of it are silent.
  NodeId pattern = view.pattern();
  Local *old = declareLocal(ctx, LocalKind::Let, ctx.text(pattern), ctx.span(pattern),
                            placed ? type : errorType(ctx), pattern);
  let->locals = {old};
  if (!placed) {
    turn->kind = StmtKind::Error;
    return turn;
  }
  // The analysis of flow sees an atomic update instead of the read and the write, which would
  // conflict.
  auto *atomic = ctx.program.make<AssignStmt>(*assign);
  atomic->mode = *fetchMode(name);
  atomic->value = value;
  std::string_view op = atomic->mode == AssignMode::AtomicAdd   ? "+"
                        : atomic->mode == AssignMode::AtomicMax ? "max"
                                                                : "min";
  assign->value = makeOp(ctx, findOp(op, 2), node, type, {refTo(ctx, old, node), value});
  turn->block->stmts = {let, assign};
  ctx.fetches[turn] = atomic;
  ctx.runsInOrder = true;
  return turn;
}

} // namespace ptl
