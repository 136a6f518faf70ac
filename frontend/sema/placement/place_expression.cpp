// The walk over the body of a program: expressions and calls.
#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/placement/place_rows.h"
#include "frontend/sema/placement/place_section.h"
#include "frontend/sema/placement/place_statement.h"
#include "frontend/sema/placement/placement_rules.h"
#include "frontend/sema/placement/placer.h"

#include <algorithm>
#include <utility>

namespace ptl {

// ---- Expressions -------------------------------------------------------------------------------

ValueId Placer::value(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Const: {
    PlacedValue value;
    value.elem = elemOf(expr.type->elem);
    value.expr = &expr;
    return add(std::move(value));
  }
  case ExprKind::LocalRef:
    return local(cast<LocalRefExpr>(expr));
  case ExprKind::Dim:
    // Each part computes sizes itself, so they must not depend on a value that only some part has.
    if (!isKnown(inProgram(expr.dim)))
      refuse(expr, "this number", "it must be computed from sizes and loop variables alone");
    return number(expr.dim);
  case ExprKind::Op:
    return apply(cast<OpExpr>(expr))[0];
  case ExprKind::Convert:
    return convert(cast<ConvertExpr>(expr));
  case ExprKind::Index:
    return index(cast<IndexExpr>(expr));
  case ExprKind::If:
    if (const Block *block = blockAlwaysTaken(expr))
      return StatementWalk(*this).block(*block)[0];
    return choice(cast<IfExpr>(expr));
  case ExprKind::Logical:
    return logical(cast<LogicalExpr>(expr));
  case ExprKind::Call:
    return call(cast<CallExpr>(expr))[0];
  case ExprKind::Block:
    return SectionWalk(*this).pop(cast<BlockExpr>(expr));
  default:
    refuse(expr, "this expression", "there is no rule for it");
  }
}

/// The values of a tuple, or the value of anything else.
std::vector<ValueId> Placer::values(const Expr &expr) {
  if (expr.kind == ExprKind::Op)
    return apply(cast<OpExpr>(expr));
  if (expr.kind == ExprKind::Call)
    return call(cast<CallExpr>(expr));
  if (const Block *block = blockAlwaysTaken(expr))
    return StatementWalk(*this).block(*block);
  if (expr.kind != ExprKind::Tuple)
    return {value(expr)};
  std::vector<ValueId> all;
  for (const Expr *element : cast<TupleExpr>(expr).elements)
    all.push_back(value(*element));
  return all;
}

ValueId Placer::local(const LocalRefExpr &expr) {
  const Local &local = *expr.local;
  if (auto found = frame_->locals.find(&local); found != frame_->locals.end())
    return SectionWalk(*this).onThisPart(expr, found->second);
  Dim dim = local.dim ? local.dim : local.symbol ? dims_.symbolDim(*local.symbol) : Dim();
  if (!dim || local.kind == LocalKind::Tunable || !isKnown(inProgram(dim)))
    refuse(expr, "`" + local.name + "`", "its value is not known to all parts");
  return number(dim);
}

/// The first position of `index(a..b)` or `index(N)`; none of a range with a step.
static Dim firstPosition(DimContext &dims, const OpExpr &expr) {
  const auto *range = dyn_cast<RangeExpr>(expr.args[0]);
  if (!range)
    return dims.constant(0);
  bool isPlain = !range->step || (range->step->dim && range->step->dim.isConstant(1));
  return isPlain ? range->lo->dim : Dim();
}

/// The operands of a built-in; null for one that is left out.
static std::vector<const Expr *> argumentsOf(const OpExpr &expr) {
  std::vector<const Expr *> args;
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    if (expr.op->params[i].kind != ParamKind::Value)
      continue;
    if (expr.op->params[i].variadic)
      args.insert(args.end(), expr.rest.begin(), expr.rest.end());
    else
      args.push_back(i < expr.args.size() ? expr.args[i] : nullptr);
  }
  return args;
}

/// One value for each result of a built-in.
std::vector<ValueId> Placer::apply(const OpExpr &expr) {
  std::string name = "`" + std::string(expr.op->name) + "`";
  std::vector<const Type *> types = {expr.type};
  if (expr.type->kind == TypeKind::Tuple)
    types.assign(expr.type->elements.begin(), expr.type->elements.end());
  if (!hasPlacementRule(*expr.op) || !std::ranges::all_of(types, [](const Type *type) {
        return type->isArray() || type->isScalar();
      }))
    refuse(expr, name, "there is no rule for it");
  PlacedValue made;
  made.kind = PlacedKind::Apply;
  made.expr = &expr;
  for (Dim length : expr.shape)
    made.lengths.push_back(inProgram(length));
  bool isAtSizes = std::ranges::all_of(made.lengths, [&](Dim length) { return isKnown(length); });
  for (const Type *type : types)
    for (Dim length : shapeOf(*type))
      isAtSizes &= isKnown(length);
  if (!isAtSizes)
    refuse(expr, name, "a length of its result depends on data");
  std::vector<const Expr *> args;
  if (expr.op->id == OpId::Index) {
    // Positions are the same on every part, and what is cut takes its block of them.
    Dim first = firstPosition(dims_, expr);
    if (!first || !isKnown(inProgram(first)))
      refuse(expr, name, "its range depends on data");
    made.operands = {number(first)};
    args = {&expr};
  } else {
    args = argumentsOf(expr);
    for (const Expr *arg : args)
      made.operands.push_back(arg ? std::optional(value(*arg)) : std::nullopt);
  }
  std::vector<ValueId> results;
  for (const Type *type : types) {
    PlacedValue each = made;
    each.result = results.size();
    each.elem = elemOf(type->elem);
    each.shape = shapeOf(*type);
    each.placement = operandPlacements(
        {expr, std::string(expr.op->name), args},
        [&](std::span<const PlacedOperand> here) {
          return placeOp(dims_, expr, here, each.shape, each.elem);
        },
        each);
    results.push_back(add(std::move(each)));
  }
  return results;
}

/// Judges the operands of `made` level by level and slices them. Returns the placement of the
/// result.
Placement Placer::operandPlacements(const JudgedExpr &judged, const Judge &judge,
                                    PlacedValue &made) {
  std::vector<Placement> operands;
  for (std::optional<ValueId> id : made.operands)
    operands.push_back(id ? placed_.values[*id].placement : Placement(placed_.levels.size()));
  Placement result;
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    result.push_back(overLevel(level, judged, judge, made, operands));
  for (size_t i = 0; i < operands.size(); ++i)
    if (made.operands[i])
      made.operands[i] = slice(*made.operands[i], operands[i]);
  return result;
}

/// Whether all elements are 0 wherever the value lies.
static bool isZero(const PlacedProgram &placed, ValueId id) {
  const PlacedValue &value = placed.values[id];
  if (value.kind == PlacedKind::Dimension)
    return value.dim.isConstant(0);
  if (value.kind == PlacedKind::Constant) {
    const auto &number = cast<ConstExpr>(*value.expr);
    return isFloat(value.elem) ? number.floatValue == 0 : number.intValue == 0;
  }
  if (value.kind == PlacedKind::Convert || value.kind == PlacedKind::Reshape)
    return isZero(placed, *value.operands[0]);
  if (value.kind != PlacedKind::Apply)
    return false;
  OpId op = cast<OpExpr>(*value.expr).op->id;
  return op == OpId::Zeros ||
         ((op == OpId::Full || op == OpId::Broadcast) && isZero(placed, *value.operands[0]));
}

/// The placement of the result over one level. `operands` are the placements after the outer levels
/// have sliced them.
LevelPlacement Placer::overLevel(size_t level, const JudgedExpr &judged, const Judge &judge,
                                 const PlacedValue &made, std::vector<Placement> &operands) {
  std::vector<PlacedOperand> here;
  for (size_t i = 0; i < operands.size(); ++i)
    here.push_back(made.operands[i]
                       ? PlacedOperand{placed_.values[*made.operands[i]].shape, operands[i][level],
                                       isZero(placed_, *made.operands[i])}
                       : PlacedOperand{});
  PlacementVerdict verdict = judge(here);
  const Expr &expr = judged.expr;
  std::string name = "`" + judged.name + "`";
  auto at = [&](size_t i) { return reported(*judged.args[i], *made.operands[i]); };
  switch (verdict.kind) {
  case PlacementVerdict::Kind::PartialValue:
    reports_.partial(level, spanOf(expr), at(verdict.operand), name);
    throw Refused();
  case PlacementVerdict::Kind::Conflict:
    reports_.conflict(level, spanOf(expr), judged.name, at(verdict.operand), at(verdict.other));
    throw Refused();
  case PlacementVerdict::Kind::NeedsWhole: {
    auto report = reports_.needsWhole(level, spanOf(expr), name,
                                      "its operand is " +
                                          reports_.describe(level, *at(verdict.operand).value) +
                                          ", and the result cannot be computed block by block",
                                      at(verdict.operand));
    const auto *op = dyn_cast<OpExpr>(&expr);
    if (op && op->op->id == OpId::ReduceMean)
      report.help("`all_reduce(sum(…), over: " + placed_.levels[level].name +
                  ")`, divided by the number of elements, sends less");
    throw Refused();
  }
  case PlacementVerdict::Kind::Fine:
    break;
  }
  for (size_t i = 0; i < verdict.slices.size(); ++i) {
    if (!verdict.slices[i])
      continue;
    if (std::optional<size_t> inside = cutInside(operands[i], level, *verdict.slices[i])) {
      // The result needs blocks of blocks, but the operand has blocks of the whole.
      reports_.needsWhole(*inside, spanOf(expr), name,
                          "one operand is " + reports_.describe(*inside, *at(i).value) +
                              " and another one is also cut over the " +
                              placed_.levels[level].name + "s outside",
                          at(i));
      throw Refused();
    }
    operands[i][level] = {PlacementKind::Cut, *verdict.slices[i], Fold::Sum, verdict.turn};
  }
  return verdict.result;
}

ValueId Placer::convert(const ConvertExpr &expr) {
  if (expr.pool)
    refusePool(sink_, spanOf(expr), "`" + std::string(tree_.text(expr.syntax)) + "`",
               "it is not in an `if` that takes one page from a pool");
  if (!outermost_)
    if (const MovementRecord *movement = movementOf(tree_, expr))
      return move(expr, *movement);
  if (!outermost_ && isSubmit(tree_, expr))
    return SectionWalk(*this).task(expr);
  ValueId id = value(*expr.arg);
  // The sum of rounded summands is not the rounded sum.
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (placed_.values[id].placement[level].isPartial() && expr.type != expr.arg->type) {
      reports_.partial(level, spanOf(expr), reported(*expr.arg, id), "a conversion that rounds");
      throw Refused();
    }
  PlacedValue made = placed_.values[id];
  made.kind = PlacedKind::Convert;
  made.expr = &expr;
  made.elem = elemOf(expr.type->elem);
  made.operands = {id};
  return add(std::move(made));
}

/// Places a movement of rows: its operands are the rows, their destinations and the weights.
ValueId Placer::moveRows(const ConvertExpr &expr, const MovementRecord &movement) {
  PlacedValue made;
  std::vector<const Expr *> args;
  for (const CallArg &arg : cast<CallExpr>(*expr.arg).args)
    if (!arg.param->symbol) {
      args.push_back(arg.value);
      made.operands.push_back(value(*arg.value));
    }
  std::vector<ReportedValue> reports;
  for (size_t i = 0; i < args.size(); ++i)
    reports.push_back(reported(*args[i], *made.operands[i]));
  std::optional<RowsPlaced> to =
      placeRows(tree_, placed_, expr, movement, reports, reports_, sink_);
  if (!to)
    throw Refused();
  SectionWalk(*this).moveInSection(expr, movement, to->over);
  for (size_t i = 1; i < args.size(); ++i)
    made.operands[i] = slice(*made.operands[i], to->choices);
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
  made.how = movementAlgorithm(tree_, expr);
  made.over = std::move(to->over);
  made.level = made.over.back();
  made.elem = elemOf(expr.type->elem);
  made.shape = shapeOf(*expr.type);
  made.placement = std::move(to->result);
  return add(std::move(made));
}

ValueId Placer::move(const ConvertExpr &expr, const MovementRecord &movement) {
  if (movement.takes == MovementTakes::Rows)
    return moveRows(expr, movement);
  ValueId id = value(*expr.arg);
  SectionWalk(*this).moveInSection(expr, movement, {});
  std::optional<MovedTo> to = placeMovement(dims_, tree_, placed_, expr, movement,
                                            reported(*expr.arg, id), reports_, sink_);
  if (!to)
    throw Refused();
  PlacedValue made = placed_.values[id];
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
  made.how = movementAlgorithm(tree_, expr);
  made.level = to->level;
  made.operands = {id};
  made.placement = std::move(to->placement);
  return add(std::move(made));
}

ValueId Placer::index(const IndexExpr &expr) {
  if (std::optional<PlacedValue> own = SectionWalk(*this).ownElement(expr))
    return add(std::move(*own));
  ValueId base = value(*expr.base);
  std::optional<PlacedIndex> index = placeIndex(
      dims_, placed_.values[base], expr, frame_->prefix.size(),
      [&](Dim dim) { return inProgram(dim); }, [&](Dim dim) { return isKnown(dim); });
  if (!index)
    refuse(expr, "an index",
           "the bounds of a slice must be computed from sizes and loop variables");
  PlacedValue made = std::move(index->value);
  made.operands = {base};
  std::vector<const Expr *> args = {expr.base};
  for (const Expr *operand : index->operands) {
    made.operands.push_back(value(*operand));
    args.push_back(operand);
  }
  made.placement = operandPlacements(
      {expr, outermost_ ? "x[..]" : std::string(tree_.text(expr.syntax)), args},
      [&](std::span<const PlacedOperand> here) { return placeIndexed(index->rule, here); }, made);
  return add(std::move(made));
}

// ---- Calls -------------------------------------------------------------------------------------

std::vector<ValueId> Placer::call(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  if (callee.kind != DeclKind::Fn)
    refuse(expr, "`" + callee.name + "`", "it only works on whole arrays of one part");
  if (!callee.body)
    throw Refused(); // The error was reported elsewhere.
  if (!expr.checks.empty() || !callee.tunables.empty())
    refuse(expr, "`" + callee.name + "`", "it has conditions that are not proved, or tunables");
  PlacedFrame frame{&callee, &expr};
  for (size_t i = 0; i < callee.dims.size() && i < expr.dimArgs.size(); ++i)
    frame.dims[callee.dims[i].symbol] = inProgram(expr.dimArgs[i]);
  for (size_t i = 0; i < callee.typeParams.size() && i < expr.elemArgs.size(); ++i)
    frame.elems[callee.typeParams[i]] = elemOf(expr.elemArgs[i]);
  if (expr.prefixHasPrefix)
    frame.prefix = frame_->prefix;
  for (const Extent &extent : expr.prefixArgs)
    frame.prefix.push_back(inProgram(extent.length));
  for (const CallArg &arg : expr.args) {
    if (arg.isInout || (arg.param->symbol && !arg.value->dim))
      refuse(expr, "`" + callee.name + "`", "it has an argument that decides sizes");
    if (arg.param->symbol)
      frame.dims[*arg.param->symbol] = inProgram(arg.value->dim);
    // A parameter whose length is known needs no value, because all its uses are lengths.
    if (!arg.param->symbol || !isKnown(inProgram(arg.value->dim)))
      frame.locals[arg.param] = value(*arg.value);
  }
  // Errors inside nested calls point to the call that is written in the program.
  bool isOutermost = !outermost_;
  if (isOutermost)
    outermost_ = &expr;
  PlacedFrame *caller = std::exchange(frame_, &frame);
  const Local *leaves = std::exchange(leaves_, nullptr);
  std::vector<ValueId> made =
      results({callee.body->stmts.begin(), callee.body->stmts.end()}, callee.body->value, expr);
  frame_ = caller;
  leaves_ = leaves;
  if (isOutermost)
    outermost_ = nullptr;
  return made;
}

} // namespace ptl
