// The walk over the body of a program: expressions and calls.
#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/placement/place_rows.h"
#include "frontend/sema/placement/place_section.h"
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
    return apply(cast<OpExpr>(expr));
  case ExprKind::Convert:
    return convert(cast<ConvertExpr>(expr));
  case ExprKind::Index:
    return index(cast<IndexExpr>(expr));
  case ExprKind::If:
    return choice(cast<IfExpr>(expr));
  case ExprKind::Logical:
    return logical(cast<LogicalExpr>(expr));
  case ExprKind::Call:
    return call(cast<CallExpr>(expr));
  case ExprKind::Block:
    return SectionWalk(*this).pop(cast<BlockExpr>(expr));
  default:
    refuse(expr, "this expression", "there is no rule for it");
  }
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

ValueId Placer::apply(const OpExpr &expr) {
  std::string name = "`" + std::string(expr.op->name) + "`";
  if (!hasPlacementRule(*expr.op) || !(expr.type->isArray() || expr.type->isScalar()))
    refuse(expr, name, "there is no rule for it");
  PlacedValue made;
  made.kind = PlacedKind::Apply;
  made.expr = &expr;
  made.elem = elemOf(expr.type->elem);
  made.shape = shapeOf(*expr.type);
  if (!std::ranges::all_of(made.shape, [&](Dim length) { return isKnown(length); }))
    refuse(expr, name, "a length of its result depends on data");
  if (expr.op->id == OpId::Index) {
    // Positions are the same on every part, and what is cut takes its block of them.
    Dim first = firstPosition(dims_, expr);
    if (!first || !isKnown(inProgram(first)))
      refuse(expr, name, "its range depends on data");
    made.operands = {number(first)};
    made.placement = Placement(placed_.levels.size());
    return add(std::move(made));
  }
  std::vector<const Expr *> args;
  for (size_t i = 0; i < expr.op->params.size(); ++i) {
    if (expr.op->params[i].kind != ParamKind::Value)
      continue;
    if (expr.op->params[i].variadic)
      args.insert(args.end(), expr.rest.begin(), expr.rest.end());
    else
      args.push_back(i < expr.args.size() ? expr.args[i] : nullptr);
  }
  for (const Expr *arg : args)
    made.operands.push_back(arg ? std::optional(value(*arg)) : std::nullopt);
  made.placement = operandPlacements(expr, made, args);
  return add(std::move(made));
}

/// Judges the operands of `made` level by level and slices them. Returns the placement of the
/// result.
Placement Placer::operandPlacements(const OpExpr &expr, PlacedValue &made,
                                    const std::vector<const Expr *> &args) {
  std::vector<Placement> operands;
  for (std::optional<ValueId> id : made.operands)
    operands.push_back(id ? placed_.values[*id].placement : Placement(placed_.levels.size()));
  Placement result;
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    result.push_back(overLevel(level, expr, made, args, operands));
  for (size_t i = 0; i < operands.size(); ++i)
    if (made.operands[i])
      made.operands[i] = slice(*made.operands[i], operands[i]);
  return result;
}

/// The placement of the result over one level. `operands` are the placements after the outer levels
/// have sliced them.
LevelPlacement Placer::overLevel(size_t level, const OpExpr &expr, const PlacedValue &made,
                                 const std::vector<const Expr *> &args,
                                 std::vector<Placement> &operands) {
  std::vector<PlacedOperand> here;
  for (size_t i = 0; i < operands.size(); ++i)
    here.push_back(made.operands[i]
                       ? PlacedOperand{placed_.values[*made.operands[i]].shape, operands[i][level]}
                       : PlacedOperand{});
  PlacementVerdict verdict = placeOp(dims_, expr, here, made.shape, made.elem);
  std::string name = "`" + std::string(expr.op->name) + "`";
  auto at = [&](size_t i) { return reported(*args[i], *made.operands[i]); };
  switch (verdict.kind) {
  case PlacementVerdict::Kind::PartialValue:
    reports_.partial(level, spanOf(expr), at(verdict.operand), name);
    throw Refused();
  case PlacementVerdict::Kind::Conflict:
    reports_.conflict(level, spanOf(expr), std::string(expr.op->name), at(verdict.operand),
                      at(verdict.other));
    throw Refused();
  case PlacementVerdict::Kind::NeedsWhole:
    reports_.needsWhole(level, spanOf(expr), name,
                        "its operand is " + reports_.describe(level, *at(verdict.operand).value) +
                            ", and the result cannot be computed block by block",
                        at(verdict.operand));
    throw Refused();
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
  ValueId id = value(*expr.base);
  std::optional<PlacedValue> made =
      placeIndex(dims_, placed_.values[id], expr, frame_->prefix.size(),
                 [&](Dim dim) { return inProgram(dim); });
  bool isAtSizes = made && std::ranges::all_of(made->positions, [&](const auto &each) {
                     return isKnown(each.second);
                   });
  if (!isAtSizes)
    refuse(expr, "an index",
           "an index may only have `:` and `new`, and on axes that are not cut a position that is "
           "a size or a loop variable");
  made->operands = {id};
  return add(std::move(*made));
}

// ---- Calls -------------------------------------------------------------------------------------

ValueId Placer::call(const CallExpr &expr) {
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
  ValueId made =
      result({callee.body->stmts.begin(), callee.body->stmts.end()}, callee.body->value, expr);
  frame_ = caller;
  leaves_ = leaves;
  if (isOutermost)
    outermost_ = nullptr;
  return made;
}

} // namespace ptl
