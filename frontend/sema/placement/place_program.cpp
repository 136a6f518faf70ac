// The walk over the body of a program.
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/placement/movement_call.h"
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
         std::string level, DiagnosticSink &sink)
      : dims_(*program.dims), tree_(tree), decl_(decl), reports_(dims_, level, sink), sink_(sink) {
    placed_.decl = &decl;
    placed_.level = std::move(level);
  }

  std::optional<PlacedProgram> run() {
    PlacedFrame frame{&decl_};
    frame_ = &frame;
    try {
      header();
      for (const Stmt *stmt : decl_.body->stmts)
        statement(*stmt);
    } catch (Refused) {
      return std::nullopt;
    }
    return std::move(placed_);
  }

private:
  // The header.
  void header();
  Placement written(NodeId type, const Local &local);
  // Statements and expressions.
  void statement(const Stmt &stmt);
  void let(const LetStmt &stmt);
  void assign(const AssignStmt &stmt);
  ValueId value(const Expr &expr);
  ValueId local(const LocalRefExpr &expr);
  ValueId apply(const OpExpr &expr);
  ValueId convert(const ConvertExpr &expr);
  ValueId move(const ConvertExpr &expr, const MovementRecord &movement);
  ValueId index(const IndexExpr &expr);
  ValueId call(const CallExpr &expr);
  ValueId bodyOf(const CallableDecl &callee, const CallExpr &expr);
  // Values.
  ValueId add(PlacedValue value);
  ValueId number(Dim dim);
  ValueId slice(ValueId of, int64_t axis);
  ElemKind elemOf(const Elem &elem) const;
  std::vector<Dim> shapeOf(const Type &type) const;
  Dim inProgram(Dim dim) const { return dim ? dims_.substitute(dim, frame_->dims) : dim; }
  Dim axisDim(NodeId node) const;
  std::optional<int64_t> axisOf(const std::vector<Dim> &shape, Dim dim) const;
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
  PlacementReports reports_;
  DiagnosticSink &sink_;
  PlacedProgram placed_;
  PlacedFrame *frame_ = nullptr;
  const CallExpr *outermost_ = nullptr; ///< the call that stands in the program
  std::map<const Local *, Placement> wanted_;
  std::map<const Local *, size_t> outputs_;
};

// ---- Values ------------------------------------------------------------------------------------

ValueId Placer::add(PlacedValue value) {
  placed_.values.push_back(std::move(value));
  return static_cast<ValueId>(placed_.values.size() - 1);
}

/// A dimension as a number.
ValueId Placer::number(Dim dim) {
  PlacedValue value;
  value.kind = PlacedKind::Dimension;
  value.elem = ElemKind::Int;
  value.dim = inProgram(dim);
  return add(std::move(value));
}

/// Each part takes its block of what is the same everywhere.
ValueId Placer::slice(ValueId of, int64_t axis) {
  PlacedValue value = placed_.values[of];
  value.kind = PlacedKind::Slice;
  value.placement = {PlacementKind::Cut, axis};
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

/// The dimension of the program that a node names.
Dim Placer::axisDim(NodeId node) const {
  if (tree_.is(node, NodeKind::NameExpr))
    for (const DimParam &dim : decl_.dims)
      if (dim.name == tree_.text(node))
        return dims_.symbolDim(dim.symbol);
  return {};
}

/// The one axis of that length, counted from the end.
std::optional<int64_t> Placer::axisOf(const std::vector<Dim> &shape, Dim dim) const {
  if (!dim || std::ranges::count(shape, dim) != 1)
    return std::nullopt;
  return (std::ranges::find(shape, dim) - shape.begin()) - static_cast<int64_t>(shape.size());
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
  NodeId node = distributionOf(tree_, type);
  if (node == kNoNode)
    return {};
  DistributionView view(tree_, node);
  std::vector<Dim> shape = shapeOf(*local.type);
  std::optional<int64_t> axis = axisOf(shape, axisDim(view.axis()));
  if (!axis) {
    sink_
        .report(DiagId::BadDistribution, tree_.span(view.axis()),
                {local.name, "`" + std::string(tree_.text(view.axis())) +
                                 "` is not the length of exactly one of its axes"})
        .help("name a dimension of the program that occurs once in the type");
    throw Refused();
  }
  return {PlacementKind::Cut, *axis};
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
    frame_->locals[&param] = add(std::move(value));
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
           "programs on parts have `let`s and assignments to whole results");
  }
}

void Placer::let(const LetStmt &stmt) {
  if (stmt.isVar || stmt.locals.size() != 1 || !stmt.value)
    refuse(stmt, "this declaration", "programs on parts have `let`s of one name");
  const Local &local = *stmt.locals[0];
  // What is a dimension is used as one.
  if (local.dim && local.type->isInt())
    return;
  ValueId id = value(*stmt.value);
  if (placed_.values[id].shape.size() != shapeOf(*local.type).size())
    refuse(*stmt.value, "this `let`", "its type repeats what it is given");
  frame_->locals[&local] = id;
}

void Placer::assign(const AssignStmt &stmt) {
  auto output = outputs_.find(stmt.target);
  if (stmt.place || stmt.mode != AssignMode::Set || stmt.updateOp || output == outputs_.end())
    refuse(*stmt.value, "this assignment", "results are assigned once, and whole");
  ValueId id = value(*stmt.value);
  std::vector<Dim> shape = shapeOf(*stmt.target->type);
  if (placed_.values[id].shape.size() != shape.size())
    refuse(*stmt.value, "this assignment", "the value would be repeated; say `broadcast`");
  Placement wanted = wanted_[stmt.target];
  Placement have = placed_.values[id].placement;
  if (have.isWhole() && wanted.isCut()) {
    id = slice(id, wanted.axis);
  } else if (have != wanted) {
    reports_.result(stmt.value->span, stmt.target->name, wanted, shape, reported(*stmt.value, id));
    throw Refused();
  }
  placed_.outputs[output->second] = id;
  frame_->locals[stmt.target] = id;
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

/// Whether executors of parts have what a built-in needs besides its operands.
bool canApply(const OpExpr &expr) {
  switch (expr.op->opClass) {
  case OpClass::Elementwise:
  case OpClass::Comparison:
  case OpClass::Select:
  case OpClass::Conversion:
  case OpClass::Reduction:
  case OpClass::Scan:
    return expr.op->id != OpId::Scan && expr.op->id != OpId::Reduce;
  case OpClass::Product:
    return true;
  case OpClass::Shape:
    return expr.op->id == OpId::Transpose || expr.op->id == OpId::Reshape ||
           expr.op->id == OpId::Broadcast;
  case OpClass::Creation:
    return expr.op->id == OpId::Zeros || expr.op->id == OpId::Ones || expr.op->id == OpId::Full;
  default:
    return false;
  }
}

ValueId Placer::apply(const OpExpr &expr) {
  std::string name = "`" + std::string(expr.op->name) + "`";
  if (!canApply(expr) || !(expr.type->isArray() || expr.type->isScalar()))
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
  std::vector<PlacedOperand> operands;
  for (std::optional<ValueId> id : made.operands)
    operands.push_back(id ? PlacedOperand{placed_.values[*id].shape, placed_.values[*id].placement}
                          : PlacedOperand{});
  PlacementVerdict verdict = placeOp(dims_, expr, operands, made.shape, made.elem);
  auto at = [&](size_t i) { return reported(*args[i], *made.operands[i]); };
  switch (verdict.kind) {
  case PlacementVerdict::Kind::OwedValue:
    reports_.owed(spanOf(expr), at(verdict.operand), name);
    throw Refused();
  case PlacementVerdict::Kind::Conflict:
    reports_.conflict(spanOf(expr), std::string(expr.op->name), at(verdict.operand),
                      at(verdict.other));
    throw Refused();
  case PlacementVerdict::Kind::NeedsWhole:
    reports_.needsWhole(spanOf(expr), name,
                        "its operand is " + reports_.describe(*at(verdict.operand).value) +
                            ", and blocks alone do not give the result",
                        at(verdict.operand));
    throw Refused();
  case PlacementVerdict::Kind::Fine:
    break;
  }
  for (size_t i = 0; i < verdict.slices.size(); ++i)
    if (verdict.slices[i])
      made.operands[i] = slice(*made.operands[i], *verdict.slices[i]);
  made.placement = verdict.result;
  return add(std::move(made));
}

ValueId Placer::convert(const ConvertExpr &expr) {
  if (!outermost_)
    if (const MovementRecord *movement = movementOf(tree_, expr))
      return move(expr, *movement);
  ValueId id = value(*expr.arg);
  if (placed_.values[id].placement.isPartial() && expr.type != expr.arg->type) {
    reports_.owed(spanOf(expr), reported(*expr.arg, id), "a conversion, which rounds,");
    throw Refused();
  }
  PlacedValue made = placed_.values[id];
  made.kind = PlacedKind::Convert;
  made.expr = &expr;
  made.elem = elemOf(expr.type->elem);
  made.operands = {id};
  return add(std::move(made));
}

ValueId Placer::move(const ConvertExpr &expr, const MovementRecord &movement) {
  if (movementLevel(tree_, expr) != placed_.level)
    refuse(expr, "`" + std::string(movement.name) + "`",
           "the arrays of this program lie over `" + placed_.level + "`");
  ValueId id = value(*expr.arg);
  PlacedValue made = placed_.values[id];
  if (made.placement.kind != movement.from) {
    reports_.source(expr.span, movement, reported(*expr.arg, id));
    throw Refused();
  }
  made.kind = PlacedKind::Move;
  made.expr = &expr;
  made.movement = &movement;
  made.operands = {id};
  Placement before = made.placement;
  made.placement = {movement.to, 0};
  if (movement.takesBy) {
    NodeId by = movementAxis(tree_, expr);
    std::optional<int64_t> axis = axisOf(made.shape, axisDim(by));
    if (!axis || (before.isCut() && before.axis == *axis)) {
      sink_.report(DiagId::BadMovement, tree_.span(by),
                   {std::string(movement.name),
                    axis ? "it is cut along `" + std::string(tree_.text(by)) + "` already"
                         : "`" + std::string(tree_.text(by)) +
                               "` is not the length of exactly one axis of what is moved"});
      throw Refused();
    }
    made.placement.axis = *axis;
  }
  return add(std::move(made));
}

/// `x[:, new]`, and `x[0]` of an axis of extent 1: the same elements with other axes.
ValueId Placer::index(const IndexExpr &expr) {
  ValueId id = value(*expr.base);
  PlacedValue made = placed_.values[id];
  std::vector<Dim> shape;
  std::vector<std::optional<size_t>> axes; // of the base, per axis of the result
  size_t next = 0;
  auto keep = [&](size_t count) {
    for (size_t i = 0; i < count && next < made.shape.size(); ++i, ++next) {
      shape.push_back(made.shape[next]);
      axes.push_back(next);
    }
  };
  for (const IndexItem &item : expr.items) {
    bool isOne = item.kind == IndexItemKind::Position && next < made.shape.size() &&
                 made.shape[next].isConstant(1);
    if (item.kind == IndexItemKind::NewAxis) {
      shape.push_back(dims_.constant(1));
      axes.push_back(std::nullopt);
    } else if (item.kind == IndexItemKind::Full) {
      keep(1);
    } else if (item.kind == IndexItemKind::Rest) {
      keep(item.restCount + (item.restHasPrefix ? frame_->prefix.size() : 0));
    } else if (isOne && !(made.placement.isCut() &&
                          static_cast<int64_t>(next) ==
                              made.placement.axis + static_cast<int64_t>(made.shape.size()))) {
      ++next;
    } else {
      refuse(expr, "an index", "parts have whole axes and `new` ones only");
    }
  }
  keep(made.shape.size() - next);
  if (made.placement.isCut()) {
    size_t cut = made.shape.size() - static_cast<size_t>(-made.placement.axis);
    auto place = std::ranges::find(axes, std::optional(cut));
    made.placement.axis = (place - axes.begin()) - static_cast<int64_t>(axes.size());
  }
  made.kind = PlacedKind::Reshape;
  made.expr = &expr;
  made.operands = {id};
  made.shape = std::move(shape);
  return add(std::move(made));
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

bool isPlaced(const Tree &tree, NodeId decl) {
  bool found = false;
  forEachDistribution(tree, decl, [&](NodeId) { found = true; });
  return found;
}

std::optional<PlacedProgram> placeProgram(const CheckedProgram &program, const Tree &tree,
                                          const CallableDecl &decl, DiagnosticSink &sink) {
  if (decl.hasErrors || !decl.body)
    return std::nullopt;
  std::optional<std::string> level = levelOf(tree, decl, sink);
  if (!level)
    return std::nullopt;
  return Placer(program, tree, decl, std::move(*level), sink).run();
}

} // namespace ptl
