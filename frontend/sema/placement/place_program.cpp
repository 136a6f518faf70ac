// The walk over the body of a program.
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/place_header.h"
#include "frontend/sema/placement/place_index.h"
#include "frontend/sema/placement/place_loop.h"
#include "frontend/sema/placement/place_movement.h"
#include "frontend/sema/placement/place_rows.h"
#include "frontend/sema/placement/placement_report.h"
#include "frontend/sema/placement/placement_rules.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ptl {

namespace {

/// Ends the walk: what is wrong has been reported.
struct Refused {};

/// A declaration whose body is walked: the program, or a `fn` that it calls. Its dimensions are
/// those of the program.
struct PlacedFrame {
  const CallableDecl *decl = nullptr;
  const CallExpr *call = nullptr; ///< null for the program
  DimSubstitution dims = {};
  std::map<const TypeParam *, ElemKind> elems = {};
  std::vector<Dim> prefix = {};
  std::map<const Local *, ValueId> locals = {};
};

class Placer {
public:
  Placer(const CheckedProgram &program, const Tree &tree, const CallableDecl &decl,
         std::vector<PlacedLevel> levels, DiagnosticSink &sink)
      : dims_(*program.dims), tree_(tree), decl_(decl), reports_(dims_, placed_.levels, sink),
        sink_(sink) {
    placed_.decl = &decl;
    placed_.levels = std::move(levels);
  }

  PlacedAsFar run() {
    PlacedFrame frame{&decl_};
    frame_ = &frame;
    bool isAll = true;
    try {
      header();
      for (const Stmt *stmt : decl_.body->stmts)
        statement(*stmt);
    } catch (Refused) {
      isAll = false;
    }
    return {std::move(placed_), isAll};
  }

private:
  // The header.
  void header();
  Placement written(NodeId type, const Local &local);
  // Statements and expressions.
  void statement(const Stmt &stmt);
  void let(const LetStmt &stmt);
  void assign(const AssignStmt &stmt);
  void loop(const ForStmt &stmt);
  ValueId value(const Expr &expr);
  ValueId local(const LocalRefExpr &expr);
  ValueId apply(const OpExpr &expr);
  ValueId convert(const ConvertExpr &expr);
  ValueId move(const ConvertExpr &expr, const MovementRecord &movement);
  ValueId moveRows(const ConvertExpr &expr, const MovementRecord &movement);
  ValueId index(const IndexExpr &expr);
  ValueId call(const CallExpr &expr);
  ValueId bodyOf(const CallableDecl &callee, const CallExpr &expr);
  // Values.
  void bind(const Local &local, ValueId id);
  ValueId add(PlacedValue value);
  ValueId number(Dim dim);
  ValueId slice(ValueId of, Placement to);
  Placement operandPlacements(const OpExpr &expr, PlacedValue &made,
                              const std::vector<const Expr *> &args);
  LevelPlacement overLevel(size_t level, const OpExpr &expr, const PlacedValue &made,
                           const std::vector<const Expr *> &args, std::vector<Placement> &operands);
  ElemKind elemOf(const Elem &elem) const;
  std::vector<Dim> shapeOf(const Type &type) const;
  Dim inProgram(Dim dim) const { return dim ? dims_.substitute(dim, frame_->dims) : dim; }
  // Reports.
  ReportedValue reported(const Expr &expr, ValueId id) const;
  [[noreturn]] void refuseHeader(const Local &local, std::string why) {
    sink_.report(DiagId::BadDistribution, local.span, {local.name, std::move(why)});
    throw Refused();
  }
  /// In this file: of an expression or a statement.
  template <typename Node> Span spanOf(const Node &node) const {
    return outermost_ ? outermost_->span : node.span;
  }
  template <typename Node>
  [[noreturn]] void refuse(const Node &node, const std::string &what, const std::string &why) {
    reports_.noRule(spanOf(node), what, why);
    throw Refused();
  }

  DimContext &dims_;
  const Tree &tree_;
  const CallableDecl &decl_;
  PlacedProgram placed_;
  PlacementReports reports_;
  DiagnosticSink &sink_;
  PlacedFrame *frame_ = nullptr;
  const CallExpr *outermost_ = nullptr; ///< the call that stands in the program
  std::map<const Local *, Placement> wanted_;
  std::map<const Local *, size_t> outputs_;
  std::map<const Local *, const Expr *> given_; ///< what a variable was given last
  size_t loopDepth_ = 0;
};

// ---- Values ------------------------------------------------------------------------------------

ValueId Placer::add(PlacedValue value) {
  value.placement.resize(placed_.levels.size());
  placed_.values.push_back(std::move(value));
  return static_cast<ValueId>(placed_.values.size() - 1);
}

/// A name of the declaration that is walked.
void Placer::bind(const Local &local, ValueId id) {
  frame_->locals[&local] = id;
  if (!outermost_)
    placed_.locals.emplace_back(&local, id);
}

/// A dimension as a number.
ValueId Placer::number(Dim dim) {
  PlacedValue value;
  value.kind = PlacedKind::Dimension;
  value.elem = ElemKind::Int;
  value.dim = inProgram(dim);
  return add(std::move(value));
}

/// Each part takes its block of what it has.
ValueId Placer::slice(ValueId of, Placement to) {
  if (placed_.values[of].placement == to)
    return of;
  PlacedValue value = placed_.values[of];
  value.kind = PlacedKind::Slice;
  value.placement = std::move(to);
  value.operands = {of};
  return add(std::move(value));
}

ElemKind Placer::elemOf(const Elem &elem) const {
  if (!elem.param)
    return elem.kind;
  auto found = frame_->elems.find(elem.param);
  ElemKind kind = found == frame_->elems.end() ? elem.kind : found->second;
  return elem.acc ? accOf(kind) : kind;
}

std::vector<Dim> Placer::shapeOf(const Type &type) const {
  std::vector<Dim> shape;
  if (!type.isArray())
    return shape;
  if (type.prefix)
    shape = frame_->prefix;
  for (const Extent &extent : type.extents)
    shape.push_back(inProgram(extent.length));
  return shape;
}

// ---- Reports -----------------------------------------------------------------------------------

ReportedValue Placer::reported(const Expr &expr, ValueId id) const {
  ReportedValue value{&placed_.values[id], "", "", std::nullopt};
  // What stands in a `fn` has no place in this file.
  if (outermost_) {
    value.name = "a value in `" + frame_->decl->name + "`";
    return value;
  }
  value.text = tree_.fileText().substr(expr.span.begin, expr.span.end - expr.span.begin);
  value.name = "`" + value.text + "`";
  value.written = expr.span;
  return value;
}

// ---- The header --------------------------------------------------------------------------------

Placement Placer::written(NodeId type, const Local &local) {
  std::optional<Placement> placement =
      writtenPlacement(dims_, tree_, decl_, placed_.levels, type, local, sink_);
  if (!placement)
    throw Refused();
  return std::move(*placement);
}

void Placer::header() {
  NodeId params = tree_.child(decl_.syntax, 2), results = tree_.child(decl_.syntax, 3);
  std::span<const NodeId> nodes = tree_.children(params);
  for (size_t i = 0; i < decl_.params.size() && i < nodes.size(); ++i) {
    const Local &param = *decl_.params[i];
    Placement placement = written(ParamView(tree_, nodes[i]).type(), param);
    if (param.isInout || !(param.type->isArray() || param.type->isScalar()) || param.type->prefix ||
        param.type->elem.param || !param.type->strides.empty()) {
      sink_.report(DiagId::BadDistribution, param.span,
                   {param.name,
                    "a program on parts takes dense arrays and scalars of fixed element "
                    "type, and no `inout`"});
      throw Refused();
    }
    PlacedValue value;
    value.kind = PlacedKind::Argument;
    value.placement = placement;
    value.shape = shapeOf(*param.type);
    value.elem = param.type->elem.kind;
    value.param = &param;
    bind(param, add(std::move(value)));
  }
  if (results != kNoNode)
    for (size_t i = 0; i < decl_.outputs.size(); ++i) {
      const Local &output = *decl_.outputs[i];
      if (i < decl_.outputInits.size() && decl_.outputInits[i])
        refuseHeader(output, "a result of a program on parts has no initial value");
      wanted_[&output] = written(ResultView(tree_, tree_.children(results)[i]).type(), output);
      outputs_[&output] = i;
    }
  placed_.outputs.resize(decl_.outputs.size());
}

// ---- Statements --------------------------------------------------------------------------------

void Placer::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Let:
    return let(cast<LetStmt>(stmt));
  case StmtKind::Assign:
    return assign(cast<AssignStmt>(stmt));
  case StmtKind::For:
    return loop(cast<ForStmt>(stmt));
  case StmtKind::Block:
    for (const Stmt *each : cast<BlockStmt>(stmt).block->stmts)
      statement(*each);
    return;
  case StmtKind::Task:
    for (const Stmt *each : cast<TaskStmt>(stmt).body->stmts)
      statement(*each);
    return;
  default:
    refuse(stmt, "this statement",
           "programs on parts have `let`s, `var`s, `for`s over ranges, and assignments");
  }
}

void Placer::let(const LetStmt &stmt) {
  if (stmt.locals.size() != 1 || !stmt.value)
    refuse(stmt, "this declaration", "programs on parts give each name a value of its own");
  const Local &local = *stmt.locals[0];
  // What is a dimension is used as one.
  if (local.dim && local.type->isInt() && !stmt.isVar)
    return;
  ValueId id = value(*stmt.value);
  if (placed_.values[id].shape.size() != shapeOf(*local.type).size())
    refuse(*stmt.value, "this `let`", "its type repeats what it is given");
  bind(local, id);
}

void Placer::assign(const AssignStmt &stmt) {
  auto output = outputs_.find(stmt.target);
  bool isVar = stmt.target->kind == LocalKind::Var;
  if (stmt.place || stmt.mode != AssignMode::Set ||
      (!isVar && (stmt.updateOp || output == outputs_.end() || loopDepth_ > 0)))
    refuse(*stmt.value, "this assignment",
           "results are assigned once, whole, and outside of loops");
  ValueId id = value(*stmt.value);
  std::vector<Dim> shape = shapeOf(*stmt.target->type);
  if (placed_.values[id].shape.size() != shape.size())
    refuse(*stmt.value, "this assignment", "the value would be repeated; say `broadcast`");
  if (isVar) {
    frame_->locals[stmt.target] = id;
    given_[stmt.target] = stmt.value;
    return;
  }
  const Placement &wanted = wanted_[stmt.target];
  Placement have = placed_.values[id].placement;
  for (size_t level = 0; level < have.size(); ++level) {
    bool isFree = have[level].isWhole() && wanted[level].isCut() &&
                  !cutInside(have, level, wanted[level].axis);
    if (have[level] != wanted[level] && !isFree) {
      reports_.result(level, stmt.value->span, stmt.target->name, wanted, shape,
                      reported(*stmt.value, id));
      throw Refused();
    }
    have[level] = wanted[level];
  }
  id = slice(id, wanted);
  placed_.outputs[output->second] = id;
  bind(*stmt.target, id);
}

void Placer::loop(const ForStmt &stmt) {
  if (std::string why = whyNoLoop(stmt); !why.empty())
    refuse(*stmt.head.iterable, "this loop", why);
  const auto &range = cast<RangeExpr>(*stmt.head.iterable);
  PlacedLoop loop;
  loop.stmt = &stmt;
  loop.variable = *stmt.head.var->symbol;
  loop.lo = inProgram(range.lo->dim);
  loop.hi = inProgram(range.hi->dim);
  loop.step = range.step ? inProgram(range.step->dim) : dims_.constant(1);
  if (stmt.checkpoint)
    loop.every = inProgram(stmt.checkpoint->every->dim);
  ++loopDepth_;
  auto body = [&] {
    for (const Stmt *each : stmt.body->stmts)
      statement(*each);
  };
  auto reported = [&](const Local *local, ValueId id) {
    return this->reported(*given_[local], id);
  };
  auto slice = [&](ValueId of, const Placement &to) { return this->slice(of, to); };
  if (!placeLoop(std::move(loop), {placed_, frame_->locals, body, slice, reported, reports_}))
    throw Refused();
  --loopDepth_;
}

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
    return number(expr.dim);
  case ExprKind::Op:
    return apply(cast<OpExpr>(expr));
  case ExprKind::Convert:
    return convert(cast<ConvertExpr>(expr));
  case ExprKind::Index:
    return index(cast<IndexExpr>(expr));
  case ExprKind::Call:
    return call(cast<CallExpr>(expr));
  default:
    refuse(expr, "this expression", "there is no rule for it");
  }
}

ValueId Placer::local(const LocalRefExpr &expr) {
  const Local &local = *expr.local;
  if (auto found = frame_->locals.find(&local); found != frame_->locals.end())
    return found->second;
  Dim dim = local.dim ? local.dim : local.symbol ? dims_.symbolDim(*local.symbol) : Dim();
  if (!dim || local.kind == LocalKind::Tunable)
    refuse(expr, "`" + local.name + "`", "it has no value that all parts know");
  return number(dim);
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

/// Judges the operands of `made` level by level and slices them; where the result lies.
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

/// One level: where the result lies over its parts. `operands` are as far as the levels outside have
/// sliced them.
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
                            ", and blocks alone do not give the result",
                        at(verdict.operand));
    throw Refused();
  case PlacementVerdict::Kind::Fine:
    break;
  }
  for (size_t i = 0; i < verdict.slices.size(); ++i) {
    if (!verdict.slices[i])
      continue;
    if (std::optional<size_t> inside = cutInside(operands[i], level, *verdict.slices[i])) {
      // Blocks of blocks are needed, and the operand has blocks of the whole.
      reports_.needsWhole(*inside, spanOf(expr), name,
                          "an operand that is " + reports_.describe(*inside, *at(i).value) +
                              " meets one that the " + placed_.levels[level].name +
                              "s outside cut, too",
                          at(i));
      throw Refused();
    }
    operands[i][level] = {PlacementKind::Cut, *verdict.slices[i], Fold::Sum, verdict.turn};
  }
  return verdict.result;
}

ValueId Placer::convert(const ConvertExpr &expr) {
  if (!outermost_)
    if (const MovementRecord *movement = movementOf(tree_, expr))
      return move(expr, *movement);
  ValueId id = value(*expr.arg);
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (placed_.values[id].placement[level].isPartial() && expr.type != expr.arg->type) {
      reports_.partial(level, spanOf(expr), reported(*expr.arg, id), "a conversion, which rounds,");
      throw Refused();
    }
  PlacedValue made = placed_.values[id];
  made.kind = PlacedKind::Convert;
  made.expr = &expr;
  made.elem = elemOf(expr.type->elem);
  made.operands = {id};
  return add(std::move(made));
}

/// The arguments of the function that says what becomes of rows: what moves, where to, and the weights.
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
  for (size_t i = 1; i < args.size(); ++i)
    made.operands[i] = slice(*made.operands[i], to->choices);
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
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
  std::optional<MovedTo> to = placeMovement(dims_, tree_, placed_, expr, movement,
                                            reported(*expr.arg, id), reports_, sink_);
  if (!to)
    throw Refused();
  PlacedValue made = placed_.values[id];
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
  made.level = to->level;
  made.operands = {id};
  made.placement = std::move(to->placement);
  return add(std::move(made));
}

ValueId Placer::index(const IndexExpr &expr) {
  ValueId id = value(*expr.base);
  std::optional<PlacedValue> made =
      placeIndex(dims_, placed_.values[id], expr, frame_->prefix.size(),
                 [&](Dim dim) { return inProgram(dim); });
  if (!made)
    refuse(expr, "an index",
           "of an axis that is not cut it may have one position that is a size or counts a loop, "
           "beside it whole axes and `new` ones");
  made->operands = {id};
  return add(std::move(*made));
}

// ---- Calls -------------------------------------------------------------------------------------

ValueId Placer::call(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  if (callee.kind != DeclKind::Fn)
    refuse(expr, "`" + callee.name + "`", "it works on whole arrays of one part");
  if (!callee.body)
    throw Refused(); // Checked elsewhere: nothing can be said here.
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
    else
      frame.locals[arg.param] = value(*arg.value);
  }
  bool isOutermost = !outermost_;
  if (isOutermost)
    outermost_ = &expr;
  PlacedFrame *caller = std::exchange(frame_, &frame);
  ValueId result = bodyOf(callee, expr);
  frame_ = caller;
  if (isOutermost)
    outermost_ = nullptr;
  return result;
}

ValueId Placer::bodyOf(const CallableDecl &callee, const CallExpr &expr) {
  for (const Stmt *stmt : callee.body->stmts) {
    if (const auto *result = dyn_cast<ReturnStmt>(stmt); result && result->value)
      return value(*result->value);
    statement(*stmt);
  }
  if (!callee.body->value)
    refuse(expr, "`" + callee.name + "`", "it has no one value");
  return value(*callee.body->value);
}

} // namespace

PlacedAsFar placeAsFar(const CheckedProgram &program, const Tree &tree, const CallableDecl &decl,
                       DiagnosticSink &sink) {
  if (!decl.body)
    return {};
  std::optional<std::vector<PlacedLevel>> levels = levelsOf(tree, decl, sink);
  if (!levels)
    return {};
  return Placer(program, tree, decl, std::move(*levels), sink).run();
}

std::optional<PlacedProgram> placeProgram(const CheckedProgram &program, const Tree &tree,
                                          const CallableDecl &decl, DiagnosticSink &sink) {
  if (decl.hasErrors)
    return std::nullopt;
  PlacedAsFar placed = placeAsFar(program, tree, decl, sink);
  return placed.isAll ? std::optional(std::move(placed.program)) : std::nullopt;
}

} // namespace ptl
