#include "frontend/sema/placement/place_expression.h"

#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_choice.h"
#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/place_kernel.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/placement/place_parts.h"
#include "frontend/sema/placement/place_rows.h"
#include "frontend/sema/placement/place_section.h"
#include "frontend/sema/placement/place_statement.h"
#include "frontend/sema/placement/placement_rules.h"
#include "frontend/sema/placement/placement_text.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ptl {

// ---- Expressions -------------------------------------------------------------------------------

ValueId ExpressionWalk::value(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Const: {
    PlacedValue value;
    value.elem = p_.elemOf(expr.type->elem);
    value.expr = &expr;
    return p_.add(std::move(value));
  }
  case ExprKind::LocalRef:
    return local(cast<LocalRefExpr>(expr));
  case ExprKind::Field:
    if (!expr.dim)
      p_.refuse(expr, "this expression", "no rule gives the placement of its result");
    [[fallthrough]];
  case ExprKind::Dim:
    // Each part computes sizes itself, so they must not depend on a value that only some part has.
    if (!p_.isKnown(p_.inProgram(expr.dim)))
      p_.refuse(expr, "this number", "it must be computed from sizes and loop variables alone");
    return p_.number(expr.dim);
  case ExprKind::Op:
    return apply(cast<OpExpr>(expr))[0];
  case ExprKind::Convert:
    return convert(cast<ConvertExpr>(expr));
  case ExprKind::Index:
    return index(cast<IndexExpr>(expr));
  case ExprKind::If:
    if (const Block *block = blockAlwaysTaken(expr))
      return StatementWalk(p_).block(*block)[0];
    return ChoiceWalk(p_).choice(cast<IfExpr>(expr));
  case ExprKind::Logical:
    return ChoiceWalk(p_).logical(cast<LogicalExpr>(expr));
  case ExprKind::Call:
    return call(cast<CallExpr>(expr))[0];
  case ExprKind::Block:
    return SectionWalk(p_).pop(cast<BlockExpr>(expr));
  default:
    p_.refuse(expr, "this expression", "no rule gives the placement of its result");
  }
}

std::vector<ValueId> ExpressionWalk::values(const Expr &expr) {
  if (expr.kind == ExprKind::Op)
    return apply(cast<OpExpr>(expr));
  if (expr.kind == ExprKind::Call)
    return call(cast<CallExpr>(expr));
  if (const Block *block = blockAlwaysTaken(expr))
    return StatementWalk(p_).block(*block);
  if (expr.kind != ExprKind::Tuple)
    return {value(expr)};
  std::vector<ValueId> all;
  for (const Expr *element : cast<TupleExpr>(expr).elements)
    all.push_back(value(*element));
  return all;
}

ValueId ExpressionWalk::local(const LocalRefExpr &expr) {
  const Local &local = *expr.local;
  if (auto found = p_.frame_->locals.find(&local); found != p_.frame_->locals.end())
    return p_.own_.empty() ? SectionWalk(p_).onThisPart(expr, found->second)
                           : PartsWalk(p_).whole(expr, found->second);
  Dim dim = local.dim ? local.dim : local.symbol ? p_.dims_.symbolDim(*local.symbol) : Dim();
  if (!dim || local.kind == LocalKind::Tunable || !p_.isKnown(p_.inProgram(dim)))
    p_.refuse(expr, "`" + local.name + "`", "its value is not known to all parts");
  return p_.number(dim);
}

/// The first position of `index(N)`, of `index(a..b step s)` or of a range behind a name, and the step if there is one.
static std::vector<Dim> positionsOf(DimContext &dims, const OpExpr &expr) {
  const RangeInfo *range = expr.args[0]->type->range;
  if (!range)
    return {dims.constant(0)};
  if (!range->step || range->step.isConstant(1))
    return {range->start};
  return {range->start, range->step};
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
std::vector<ValueId> ExpressionWalk::apply(const OpExpr &expr) {
  // Each result of a built-in with several becomes a value of its own, since their placements may differ.
  std::string name = "`" + std::string(expr.op->name) + "`";
  std::vector<const Type *> types = {expr.type};
  if (expr.type->kind == TypeKind::Tuple)
    types.assign(expr.type->elements.begin(), expr.type->elements.end());
  if (!hasPlacementRule(*expr.op) || !std::ranges::all_of(types, [](const Type *type) {
        return type->isArray() || type->isScalar();
      }))
    p_.refuse(expr, name, "no rule gives the placement of its result");
  PlacedValue made;
  made.kind = PlacedKind::Apply;
  made.expr = &expr;
  for (Dim length : expr.shape)
    made.lengths.push_back(p_.inProgram(length));
  bool isAtSizes =
      std::ranges::all_of(made.lengths, [&](Dim length) { return p_.isKnown(length); });
  for (const Type *type : types)
    for (Dim length : p_.shapeOf(*type))
      isAtSizes &= p_.isKnown(length);
  if (!isAtSizes)
    p_.refuse(expr, name, "a length of its result depends on data");
  std::vector<const Expr *> args;
  if (expr.op->id == OpId::Index) {
    // Positions are the same on every part, and what is cut takes its block of them.
    for (Dim dim : positionsOf(p_.dims_, expr)) {
      if (!p_.isKnown(p_.inProgram(dim)))
        p_.refuse(expr, name, "its range depends on data");
      made.operands.push_back(p_.number(dim));
      args.push_back(&expr);
    }
  } else {
    args = argumentsOf(expr);
    for (const Expr *arg : args)
      made.operands.push_back(arg ? std::optional(value(*arg)) : std::nullopt);
  }
  std::vector<ValueId> results;
  for (const Type *type : types) {
    PlacedValue each = made;
    each.result = results.size();
    each.elem = p_.elemOf(type->elem);
    each.shape = p_.shapeOf(*type);
    each.placement = operandPlacements(
        {expr, std::string(expr.op->name), args},
        [&](std::span<const PlacedOperand> here) {
          return placeOp(p_.dims_, expr, here, each.shape, each.elem);
        },
        each);
    results.push_back(p_.add(std::move(each)));
  }
  return results;
}

Placement ExpressionWalk::operandPlacements(const JudgedExpr &judged, const Judge &judge,
                                            PlacedValue &made) {
  std::vector<Placement> operands;
  for (std::optional<ValueId> id : made.operands)
    operands.push_back(id ? p_.placed_.values[*id].placement : Placement(p_.placed_.levels.size()));
  Placement result;
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level)
    result.push_back(overLevel(level, judged, judge, made, operands));
  for (size_t i = 0; i < operands.size(); ++i)
    if (made.operands[i])
      made.operands[i] = p_.slice(*made.operands[i], operands[i]);
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

/// The variable of a loop from which a value is computed that is whole over a level; empty if there is none.
static std::string carriedIn(const PlacedProgram &placed, size_t level, ValueId id,
                             std::set<ValueId> &seen) {
  const PlacedValue &value = placed.values[id];
  if (!seen.insert(id).second || !value.placement[level].isWhole())
    return {};
  if (value.kind == PlacedKind::Carried)
    return std::string(value.param->name);
  for (std::optional<ValueId> operand : value.operands)
    if (std::string found = operand ? carriedIn(placed, level, *operand, seen) : ""; !found.empty())
      return found;
  return {};
}

/// The same of the operands beside one that is partial.
std::string ExpressionWalk::carriedBeside(size_t level, const PlacedValue &made,
                                          size_t partial) const {
  std::set<ValueId> seen;
  for (size_t i = 0; i < made.operands.size(); ++i)
    if (i != partial && made.operands[i])
      if (std::string found = carriedIn(p_.placed_, level, *made.operands[i], seen); !found.empty())
        return found;
  return {};
}

/// Whether axes of operands correspond that have the same number from the end.
static bool isByPosition(const Expr &expr) {
  const auto *op = dyn_cast<OpExpr>(&expr);
  if (!op)
    return false;
  OpClass kind = op->op->opClass;
  return kind == OpClass::Elementwise || kind == OpClass::Comparison || kind == OpClass::Select ||
         (op->op->axisFlow == AxisFlow::Along && kind != OpClass::Scatter);
}

/// The axes that an operation along one axis, or a reduction, keeps in blocks.
static std::vector<int64_t> otherAxes(const Expr &expr, size_t rank) {
  const auto *op = dyn_cast<OpExpr>(&expr);
  bool isAlong = op && !op->reducesAll && op->op->opClass != OpClass::Scatter &&
                 (op->op->axisFlow == AxisFlow::Along || op->op->opClass == OpClass::Reduction);
  std::vector<int64_t> others;
  for (auto axis = -static_cast<int64_t>(rank); axis < 0 && isAlong; ++axis)
    if (op->axes.empty() ? axis != -1 : std::ranges::find(op->axes, axis) == op->axes.end())
      others.push_back(axis);
  return others;
}

/// The placement of the result over one level. `operands` are the placements after the outer levels
/// have sliced them.
LevelPlacement ExpressionWalk::overLevel(size_t level, const JudgedExpr &judged, const Judge &judge,
                                         const PlacedValue &made,
                                         std::vector<Placement> &operands) {
  // A rule sees one level at a time: what an operand is over this level, after the levels outside have cut it.
  std::vector<PlacedOperand> here;
  for (size_t i = 0; i < operands.size(); ++i)
    here.push_back(made.operands[i]
                       ? PlacedOperand{p_.placed_.values[*made.operands[i]].shape,
                                       operands[i][level], isZero(p_.placed_, *made.operands[i])}
                       : PlacedOperand{});
  PlacementVerdict verdict = judge(here);
  const Expr &expr = judged.expr;
  std::string name = "`" + judged.name + "`";
  auto at = [&](size_t i) {
    ReportedValue value = p_.reported(*judged.args[i], *made.operands[i]);
    // A movement is no variable that a call or an assignment could change.
    const auto *call = dyn_cast<CallExpr>(&expr);
    if ((call && call->args[i].isInout) || (made.kind == PlacedKind::Store && i == 0))
      value.written.reset();
    return value;
  };
  switch (verdict.kind) {
  case PlacementVerdict::Kind::PartialValue:
    p_.reports_.partial(level, p_.spanOf(expr), at(verdict.operand), name,
                        carriedBeside(level, made, verdict.operand));
    throw Refused();
  case PlacementVerdict::Kind::Conflict:
    p_.reports_.conflict(level, p_.spanOf(expr), judged.name, at(verdict.operand),
                         at(verdict.other), isByPosition(expr));
    throw Refused();
  case PlacementVerdict::Kind::NeedsWhole: {
    auto report = p_.reports_.needsWhole(
        level, p_.spanOf(expr), name,
        "its operand is " + p_.reports_.describe(level, *at(verdict.operand).value) +
            (expr.kind == ExprKind::Call ? ", and a call computes with arrays that one part has"
                                         : ", and the result cannot be computed block by block"),
        at(verdict.operand), otherAxes(expr, here[verdict.operand].shape.size()));
    if (expr.kind == ExprKind::Call && !p_.section_) {
      std::span<const Dim> shape = here[verdict.operand].shape;
      Dim length = shape[shape.size() - static_cast<size_t>(-here[verdict.operand].placement.axis)];
      const std::string &part = p_.placed_.levels[level].name;
      report.help("`parallel c in parts(" + p_.dims_.toString(length) + ", over: " + part +
                  ") { … }` calls it on each " + part + " with the elements that it has");
    }
    if (made.kind == PlacedKind::Store && verdict.operand == 0)
      report.help("`select`, with a condition on `index(…)`, changes elements where they lie");
    // A mean is no sum of the means of blocks, unless all blocks are equally long, which is not known.
    const auto *op = dyn_cast<OpExpr>(&expr);
    if (op && op->op->axisFlow == AxisFlow::Reshaped)
      report.help("no element moves if the axis that is cut keeps its length, or is joined with "
                  "axes behind "
                  "it; split it in the header, as in `x: f32[T, H, E] over chip by H`, and join "
                  "it in the program");
    if (op && op->op->id == OpId::ReduceMean)
      report.help("`all_reduce(sum(…), over: " + p_.placed_.levels[level].name +
                  ")`, divided by the number of elements, sends less");
    throw Refused();
  }
  case PlacementVerdict::Kind::Fine:
    break;
  }
  for (size_t i = 0; i < verdict.slices.size(); ++i) {
    if (!verdict.slices[i])
      continue;
    if (std::optional<size_t> inside = cutInside(operands[i], level, verdict.slices[i]->axis)) {
      // The result needs blocks of blocks, but the operand has blocks of the whole.
      p_.reports_.needsWhole(*inside, p_.spanOf(expr), name,
                             "one operand is " + p_.reports_.describe(*inside, *at(i).value) +
                                 " and another one is also cut over the " +
                                 partsText(p_.placed_.levels[level]) + " outside",
                             at(i));
      throw Refused();
    }
    operands[i][level] = *verdict.slices[i];
  }
  return verdict.result;
}

ValueId ExpressionWalk::convert(const ConvertExpr &expr) {
  if (expr.pool)
    refusePool(p_.sink_, p_.spanOf(expr), "`" + std::string(p_.tree_.text(expr.syntax)) + "`",
               "it is not in an `if` that takes one page from a pool");
  if (!p_.outermost_)
    if (const MovementRecord *movement = movementOf(p_.tree_, expr))
      return move(expr, *movement);
  if (!p_.outermost_ && isSubmit(p_.tree_, expr))
    return SectionWalk(p_).task(expr);
  ValueId id = value(*expr.arg);
  // The sum of rounded summands is not the rounded sum.
  for (size_t level = 0; level < p_.placed_.levels.size(); ++level)
    if (p_.placed_.values[id].placement[level].isPartial() && expr.type != expr.arg->type) {
      p_.reports_.partial(level, p_.spanOf(expr), p_.reported(*expr.arg, id),
                          "a conversion that rounds");
      throw Refused();
    }
  PlacedValue made = p_.placed_.values[id];
  made.kind = PlacedKind::Convert;
  made.expr = &expr;
  made.elem = p_.elemOf(expr.type->elem);
  made.operands = {id};
  return p_.add(std::move(made));
}

/// Places a movement of rows: its operands are the rows, their destinations and the weights.
ValueId ExpressionWalk::moveRows(const ConvertExpr &expr, const MovementRecord &movement) {
  PlacedValue made;
  std::vector<const Expr *> args;
  for (const CallArg &arg : cast<CallExpr>(*expr.arg).args)
    if (!arg.param->symbol) {
      args.push_back(arg.value);
      made.operands.push_back(value(*arg.value));
    }
  std::vector<ReportedValue> reports;
  for (size_t i = 0; i < args.size(); ++i)
    reports.push_back(p_.reported(*args[i], *made.operands[i]));
  std::optional<RowsPlaced> to =
      placeRows(p_.tree_, p_.placed_, expr, movement, reports, p_.reports_, p_.sink_);
  if (!to)
    throw Refused();
  SectionWalk(p_).moveInSection(expr, movement, to->over);
  // A part that has all destinations and weights takes those of its own rows: a slice of a whole value moves nothing.
  for (size_t i = 1; i < args.size(); ++i)
    made.operands[i] = p_.slice(*made.operands[i], to->choices);
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
  made.how = movementAlgorithm(p_.tree_, expr);
  made.over = std::move(to->over);
  made.level = made.over.back();
  made.elem = p_.elemOf(expr.type->elem);
  made.shape = p_.shapeOf(*expr.type);
  made.placement = std::move(to->result);
  return p_.add(std::move(made));
}

ValueId ExpressionWalk::move(const ConvertExpr &expr, const MovementRecord &movement) {
  if (movement.takes == MovementTakes::Rows)
    return moveRows(expr, movement);
  ValueId id = value(*expr.arg);
  SectionWalk(p_).moveInSection(expr, movement, {});
  std::optional<MovedTo> to = placeMovement(p_.dims_, p_.tree_, p_.placed_, expr, movement,
                                            p_.reported(*expr.arg, id), p_.reports_, p_.sink_);
  if (!to)
    throw Refused();
  PlacedValue made = p_.placed_.values[id];
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
  made.how = movementAlgorithm(p_.tree_, expr);
  made.level = to->level;
  made.over = std::move(to->over);
  made.operands = {id};
  made.placement = std::move(to->placement);
  if (expr.shift) {
    made.dim = p_.inProgram(expr.shift->by);
    if (!p_.isPosition(made.dim))
      p_.refuse(expr, "`shift`", "its distance `by:` must be a number that all parts have");
    // It moves when the numbers are there.
    forEachSymbol(made.dim, [&](SymbolId symbol) {
      if (auto number = p_.numbers_.find(symbol); number != p_.numbers_.end())
        made.operands.push_back(number->second);
    });
  }
  return p_.add(std::move(made));
}

ValueId ExpressionWalk::index(const IndexExpr &expr) {
  if (std::optional<PlacedValue> own = SectionWalk(p_).ownElement(expr))
    return p_.add(std::move(*own));
  PartsWalk parts(p_);
  std::vector<IndexOrigin> origins = parts.originsOf(expr);
  ValueId base = origins.empty() ? value(*expr.base) : parts.blockOf(expr);
  std::optional<PlacedIndex> index = placeIndex(
      p_.dims_, p_.placed_.values[base], expr, p_.frame_->prefix.size(),
      [&](Dim dim) { return p_.inProgram(dim); }, [&](Dim dim) { return p_.isKnown(dim); },
      [&](Dim dim) { return p_.isPosition(dim); }, IndexUse::Read, origins);
  if (!index)
    p_.refuse(expr, "an index",
              "the length of a slice must be computed from sizes and loop variables, and its "
              "beginning too, or be a number that all parts have");
  PlacedValue made = std::move(index->value);
  made.operands = {base};
  std::vector<const Expr *> args = {expr.base};
  for (const Expr *operand : index->operands) {
    made.operands.push_back(value(*operand));
    args.push_back(operand);
  }
  made.placement = operandPlacements(
      {expr, p_.outermost_ ? "x[..]" : std::string(p_.tree_.text(expr.syntax)), args},
      [&](std::span<const PlacedOperand> here) { return placeIndexed(index->rule, here); }, made);
  return p_.add(std::move(made));
}

/// The results of a program that a task runs, whose frame is the present one.
std::vector<ValueId> ExpressionWalk::outputsOf(const CallableDecl &callee,
                                               const std::vector<const Stmt *> &stmts,
                                               const CallExpr &expr) {
  size_t depth = std::exchange(p_.loopDepth_, 0);
  p_.sequence(stmts);
  p_.loopDepth_ = depth;
  std::vector<ValueId> made;
  for (const Local *output : callee.outputs) {
    auto found = p_.frame_->locals.find(output);
    if (found == p_.frame_->locals.end())
      p_.refuse(expr, "`" + callee.name + "`", "its results must be assigned whole");
    made.push_back(found->second);
  }
  return made;
}

// ---- Calls -------------------------------------------------------------------------------------

std::vector<ValueId> ExpressionWalk::call(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  // A program that workers run is computed by one part, as a task.
  bool isWorker = callee.kind == DeclKind::Program && callee.role == "worker" && p_.section_ &&
                  !p_.section_->on && p_.own_.empty();
  if (callee.kind != DeclKind::Fn && !isWorker)
    return KernelWalk(p_).call(expr);
  // The error was reported elsewhere; of what is not right nothing is known, such as the condition of an `if`.
  if (!callee.body || callee.hasErrors)
    throw Refused();
  if (!expr.checks.empty())
    p_.refuse(expr, "`" + callee.name + "`",
              "it needs `" + expr.checks[0].text +
                  "`, which is not proved; what follows from a `where` of the program is");
  if (!callee.tunables.empty())
    p_.refuse(expr, "`" + callee.name + "`", "it has tunables");
  // The body of the callee is walked anew for each call, because its values lie where the arguments of this call lie.
  PlacedFrame frame{&callee, &expr};
  for (size_t i = 0; i < callee.dims.size() && i < expr.dimArgs.size(); ++i)
    frame.dims[callee.dims[i].symbol] = p_.inProgram(expr.dimArgs[i]);
  for (size_t i = 0; i < callee.typeParams.size() && i < expr.elemArgs.size(); ++i)
    frame.elems[callee.typeParams[i]] = p_.elemOf(expr.elemArgs[i]);
  if (expr.prefixHasPrefix)
    frame.prefix = p_.frame_->prefix;
  for (const Extent &extent : expr.prefixArgs)
    frame.prefix.push_back(p_.inProgram(extent.length));
  for (const CallArg &arg : expr.args) {
    if (arg.isInout || (arg.param->symbol && !arg.value->dim))
      p_.refuse(expr, "`" + callee.name + "`", "it has an argument that decides sizes");
    if (arg.param->symbol)
      frame.dims[*arg.param->symbol] = p_.inProgram(arg.value->dim);
    // A parameter whose length is known needs no value, because all its uses are lengths.
    if (!arg.param->symbol || !p_.isKnown(p_.inProgram(arg.value->dim)))
      frame.locals[arg.param] = value(*arg.value);
  }
  // Errors inside nested calls point to the call that is written in the program.
  bool isOutermost = !p_.outermost_;
  if (isOutermost)
    p_.outermost_ = &expr;
  PlacedFrame *caller = std::exchange(p_.frame_, &frame);
  const Local *leaves = std::exchange(p_.leaves_, nullptr);
  Placer::Returned returned = std::exchange(p_.returned_, {});
  std::vector<const Stmt *> stmts(callee.body->stmts.begin(), callee.body->stmts.end());
  std::vector<ValueId> made;
  if (isWorker)
    made = outputsOf(callee, stmts, expr);
  else
    made = p_.results(stmts, callee.body->value, expr);
  p_.frame_ = caller;
  p_.leaves_ = leaves;
  p_.returned_ = returned;
  if (isOutermost)
    p_.outermost_ = nullptr;
  return made;
}

} // namespace ptl
