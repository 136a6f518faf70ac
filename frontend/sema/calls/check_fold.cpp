// `scan(f, x…, start: …, axis: n)` and `reduce(…)`: running and whole results of an associative
// `fn` along an axis. They are written out here, in steps that double: after step `d` each position
// holds the result of `2 * d` positions, so every executor runs them without knowing of them. What a fold was stands beside its steps.
#include "frontend/sema/calls/check_fold.h"

#include "frontend/base/counted.h"
#include "frontend/sema/calls/associative.h"
#include "frontend/sema/calls/check_callable.h"
#include "frontend/sema/calls/written_fold.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

/// Steps for axes whose capacity a value decides that is known only when compiling for a target.
static constexpr int kMaxDoublings = 24;

namespace {

/// One `scan` or `reduce` while it is checked and written out.
struct FoldWriter {
  Context &ctx;
  NodeId node;
  std::string name;
  bool isReduce = false, keepsAxis = true;
  const CallableDecl *callee = nullptr;
  std::vector<Expr *> operands = {};
  std::vector<Expr *> starts = {};
  int64_t axis = -1;  ///< from the end
  int64_t along = -1; ///< the same once the operands are turned
  std::vector<Local *> values = {}, startLocals = {};
  Block *block = nullptr;
  WrittenFold *written = nullptr; ///< what is written out

  bool readArguments(const std::vector<CallArgument> &args);
  bool readCallee(const CallArgument &arg);
  bool readStarts(NodeId value);
  bool readAxis(NodeId value);
  bool checkOperands();
  Expr *run();

  Shape shape() const { return shapeOf(operands.front()->type); }
  Shape turnedShape() const;
  Expr *turnedMatrix(Expr *value) const;
  Expr *turned(Expr *value) const;
  Expr *turnedBack(Expr *value) const;
  Expr *withoutAxis(Expr *value) const;
  Local *bind(LocalKind kind, Expr *value, const Type *type);
  Expr *part(Local *local, Dim start, Dim stop, Expr *outside) const;
  bool addStep(Block *into, Dim distance);
  bool addSteps();
  Expr *result();
};

} // namespace

static DiagnosticBuilder reportFold(FoldWriter &fold, Span span, const std::string &what) {
  return fold.ctx.sink.report(DiagId::OperandNotAllowed, span, {fold.name, what});
}

// ---- Arguments ----------------------------------------------------------------------------------

bool FoldWriter::readCallee(const CallArgument &arg) {
  NodeId value = skipParens(ctx, arg.value);
  CalleeRef ref;
  if (ctx.tree.is(value, NodeKind::NameExpr)) {
    ref = lookupCallable(ctx, ctx.text(value));
  } else if (ctx.tree.is(value, NodeKind::MemberExpr)) {
    MemberExprView view(ctx.tree, value);
    // Only a plain name can stand for a module; any other base leaves no callable below.
    ValueRef base = ctx.tree.is(view.base(), NodeKind::NameExpr)
                        ? lookupValue(ctx, ctx.text(view.base()))
                        : ValueRef();
    if (base.module)
      ref = lookupCallableIn(ctx, *base.module, ctx.text(view.name()), ctx.span(view.name()));
  }
  std::string text(ctx.text(value));
  if (!ref.callable || ref.callable->kind != DeclKind::Fn) {
    reportFold(*this, arg.span, "`" + text + "`")
        .help("its first argument must be the name of a `fn` with `where associative`");
    return false;
  }
  callee = ref.callable;
  if (callee->hasErrors) {
    // What the result would have been given to is not missing by a mistake of its own.
    if (ctx.decl)
      ctx.decl->hasErrors = true;
    return false;
  }
  if (isAssociative(*callee))
    return true;
  reportFold(*this, arg.span, "`" + text + "`, which is not declared to be associative")
      .label(callee->nameSpan, "declared here")
      .help("if `f(f(a, b), c)` equals `f(a, f(b, c))`, write `where associative` after its "
            "results; `ptlc test` checks it on samples");
  return false;
}

bool FoldWriter::readStarts(NodeId value) {
  value = skipParens(ctx, value);
  std::vector<NodeId> nodes = {value};
  if (ctx.tree.is(value, NodeKind::TupleExpr)) {
    auto children = ctx.tree.children(value);
    nodes.assign(children.begin(), children.end());
  }
  if (nodes.size() != operands.size()) {
    ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(value),
                    {"start", counted(operands.size(), "value"), std::to_string(nodes.size())});
    return false;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Type *type = scalarType(ctx, operands[i]->type->elem);
    starts.push_back(convertTo(ctx, checkExpr(ctx, nodes[i], type), type, "a start value"));
    if (isMissing(starts.back()))
      return false;
  }
  return true;
}

bool FoldWriter::readAxis(NodeId value) {
  auto number = requireConstInt(ctx, value, "the axis");
  if (!number)
    return false;
  auto rank = static_cast<int64_t>(shape().rank());
  // Axes are counted from the end, so that a prefix of unknown rank does not matter. A non-negative
  // number could not be translated under a prefix, so it is refused with the range below.
  axis = *number >= 0 && !shape().prefix ? *number - rank : *number;
  if (axis >= -rank && axis < 0)
    return true;
  ctx.sink.report(
      DiagId::AxisOutOfRange, ctx.span(value),
      {std::to_string(*number), toString(ctx, operands.front()->type), std::to_string(rank)});
  return false;
}

bool FoldWriter::checkOperands() {
  for (const Expr *operand : operands) {
    bool isArray = operand->type->isArray() && shapeOf(operand->type).rank() > 0;
    if (isArray && sameShape(ctx, shapeOf(operand->type), shape()))
      continue;
    auto report = reportFold(*this, operand->span, "`" + toString(ctx, operand->type) + "`");
    if (isArray)
      report.note("its operands must have the same shape, and the first is `" +
                  toString(ctx, operands.front()->type) + "`");
    return false;
  }
  if (callee->params.size() == 2 * operands.size())
    return true;
  ctx.sink
      .report(DiagId::WrongArgumentCount, ctx.span(node),
              {name, counted(callee->params.size() / 2, "array"), std::to_string(operands.size())})
      .label(callee->nameSpan, "an associative `fn` has two parameters for each array");
  return false;
}

bool FoldWriter::readArguments(const std::vector<CallArgument> &args) {
  const CallArgument *start = nullptr, *along = nullptr, *keep = nullptr;
  std::vector<const CallArgument *> positional;
  for (const CallArgument &arg : args) {
    if (arg.name.empty())
      positional.push_back(&arg);
    else if (arg.name == "start")
      start = &arg;
    else if (arg.name == "axis")
      along = &arg;
    else if (arg.name == "keep" && isReduce)
      keep = &arg;
    else {
      ctx.sink.report(DiagId::UnknownArgument, arg.span, {name, std::string(arg.name)});
      return false;
    }
  }
  // A start has no default, because every `fn` has another identity element; the axis is the last
  // one by default.
  if (positional.size() < 2 || !start) {
    ctx.sink
        .report(DiagId::MissingArgument, ctx.span(node),
                {name, positional.empty()       ? "f"
                       : positional.size() == 1 ? "x"
                                                : "start"})
        .note("`" + name + "(f, x, start: s, axis: 0)`: `s` is the identity element of `f`");
    return false;
  }
  // The operands are checked even where the callee is wrong, so that their mistakes are reported
  // too.
  bool isRead = readCallee(*positional[0]);
  for (size_t i = 1; i < positional.size(); ++i) {
    operands.push_back(checkExpr(ctx, positional[i]->value));
    isRead = isRead && !isMissing(operands.back());
  }
  if (keep) {
    auto value = evalConst(ctx, keep->value);
    isRead = isRead && value && value->kind == ConstKind::Bool;
    if (!value || value->kind != ConstKind::Bool)
      ctx.sink.report(DiagId::NotConstantArgument, keep->span, {"keep", "`true` or `false`"});
    keepsAxis = !value || value->boolean;
  }
  return isRead && checkOperands() && readStarts(start->value) &&
         (!along || readAxis(along->value));
}

// ---- Writing out --------------------------------------------------------------------------------

/// Columns are moved where rows would be: that is free of alignment.
Shape FoldWriter::turnedShape() const {
  Shape turned = shape();
  // The one axis behind a prefix stays the last: no leading axis is known to be turned with.
  if (turned.prefix && turned.rank() == 1)
    return turned;
  // A vector becomes a column, so that positions along the axis are rows.
  if (turned.rank() == 1)
    turned.extents.push_back(makeExtent(ctx, ctx.dims.constant(1)));
  else if (axis == -1)
    std::swap(turned.extents[turned.rank() - 1], turned.extents[turned.rank() - 2]);
  return turned;
}

static Expr *transposed(Context &ctx, Expr *value) {
  Shape shape = shapeOf(value->type);
  std::swap(shape.extents[shape.rank() - 1], shape.extents[shape.rank() - 2]);
  // The second argument, which axes to swap, is missing: the default are the last two.
  return makeOp(ctx, findOps("transpose").front(), value->syntax,
                shapedType(ctx, value->type->elem, shape), {value, nullptr});
}

static IndexItem itemOf(const Expr *value, IndexItemKind kind, int64_t axis) {
  IndexItem item;
  item.kind = kind;
  item.axis = axis;
  item.needsCheck = false;
  item.span = value->span;
  return item;
}

/// Unless what is folded is a row, which gets a second axis: its transpose, which turns there and
/// back, or the value itself if it needs no turn.
Expr *FoldWriter::turnedMatrix(Expr *value) const {
  Shape whole = shape();
  if (whole.rank() > 1)
    return axis == -1 ? transposed(ctx, value) : value;
  return whole.prefix ? value : nullptr;
}

Expr *FoldWriter::turned(Expr *value) const {
  if (Expr *other = turnedMatrix(value))
    return other;
  auto *column =
      newExpr<IndexExpr>(ctx, value->syntax, shapedType(ctx, value->type->elem, turnedShape()));
  column->base = value;
  // The value gets a second axis of length one behind its own.
  column->items = {itemOf(value, IndexItemKind::Full, -1),
                   itemOf(value, IndexItemKind::NewAxis, 0)};
  return column;
}

Expr *FoldWriter::turnedBack(Expr *value) const {
  if (Expr *other = turnedMatrix(value))
    return other;
  Shape row = {false, {shapeOf(value->type).extents.front()}};
  auto *result = newExpr<IndexExpr>(ctx, value->syntax, shapedType(ctx, value->type->elem, row));
  result->base = value;
  IndexItem first = itemOf(value, IndexItemKind::Position, -1);
  // Column 0 is the only one; it is taken as a position, so the axis goes away.
  first.value = dimValue(ctx, ctx.dims.constant(0), value->syntax);
  result->items = {itemOf(value, IndexItemKind::Full, -2), first};
  return result;
}

/// The first, and only, position along the axis.
Expr *FoldWriter::withoutAxis(Expr *value) const {
  Shape whole = shapeOf(value->type), rest = whole;
  auto at = static_cast<size_t>(static_cast<int64_t>(whole.rank()) + axis);
  rest.extents.erase(rest.extents.begin() + static_cast<ptrdiff_t>(at));
  auto *index = newExpr<IndexExpr>(ctx, node, shapedType(ctx, value->type->elem, rest));
  index->base = value;
  // The leading axes of a prefix have no items of their own.
  if (whole.prefix) {
    IndexItem leading = itemOf(index, IndexItemKind::Rest, 0);
    leading.restHasPrefix = true;
    index->items.push_back(leading);
  }
  for (auto each = -static_cast<int64_t>(whole.rank()); each < 0; ++each) {
    index->items.push_back(
        itemOf(index, each == axis ? IndexItemKind::Position : IndexItemKind::Full, each));
    if (each == axis)
      index->items.back().value = dimValue(ctx, ctx.dims.constant(0), node);
  }
  return index;
}

Local *FoldWriter::bind(LocalKind kind, Expr *value, const Type *type) {
  auto *let = newStmt<LetStmt>(ctx, node);
  let->isVar = kind == LocalKind::Var;
  let->value = value;
  // The local has no name, so no program can refer to it and no warning of unused names speaks of
  // it.
  let->locals = {declareLocal(ctx, kind, "", ctx.span(node), type, kNoNode)};
  block->stmts.push_back(let);
  return let->locals[0];
}

/// Positions `start..stop` along the axis; those beyond its edges hold `outside`.
Expr *FoldWriter::part(Local *local, Dim start, Dim stop, Expr *outside) const {
  Shape result = shapeOf(local->type);
  Extent &extent = result.extents[result.rank() - static_cast<size_t>(-along)];
  Dim length = ctx.dims.sub(stop, start);
  // An equal length keeps the extent as it was, with its capacity and range.
  if (!(length == extent.length))
    extent = makeExtent(ctx, length);
  auto *index = newExpr<IndexExpr>(ctx, node, shapedType(ctx, local->type->elem, result));
  index->base = refTo(ctx, local, node);
  index->outside = outside;
  RangeInfo info;
  info.start = start;
  info.length = length;
  info.step = ctx.dims.constant(1);
  info.capacity = extent.capacity;
  auto *range = newExpr<RangeExpr>(ctx, node, rangeType(ctx, ctx.program.make<RangeInfo>(info)));
  range->lo = dimValue(ctx, start, node);
  range->hi = dimValue(ctx, stop, node);
  if (result.prefix) {
    IndexItem rest = itemOf(index, IndexItemKind::Rest, 0);
    rest.restHasPrefix = true;
    index->items.push_back(rest);
  }
  for (auto at = -static_cast<int64_t>(result.rank()); at < 0; ++at) {
    IndexItem item = itemOf(index, at == along ? IndexItemKind::Range : IndexItemKind::Full, at);
    if (at == along) {
      item.value = range;
      item.range = ctx.program.make<RangeInfo>(info);
    }
    index->items.push_back(item);
  }
  return index;
}

/// Each position takes in what lies `distance` before it, or behind it where all are reduced to the
/// first.
bool FoldWriter::addStep(Block *into, Dim distance) {
  // Statements that `bind` adds belong to the step.
  Block *outer = std::exchange(block, into);
  Dim length = turnedShape().extents[turnedShape().rank() - static_cast<size_t>(-along)].length;
  std::vector<Expr *> far, near, all;
  for (size_t i = 0; i < values.size(); ++i) {
    // A scan reads what lies before a position, so the window starts at `-distance`; a reduction
    // only needs the result at the first position, and folds in what lies behind.
    Dim start = isReduce ? distance : ctx.dims.negate(distance);
    Expr *moved =
        part(values[i], start, ctx.dims.add(start, length), refTo(ctx, startLocals[i], node));
    // The moved value is bound before any variable is assigned, so all of one step read the state
    // before it.
    far.push_back(refTo(ctx, bind(LocalKind::Let, moved, values[i]->type), node));
    near.push_back(refTo(ctx, values[i], node));
  }
  // The operand that comes first along the axis is the left one: `f` need not be commutative.
  const auto &left = isReduce ? near : far, &right = isReduce ? far : near;
  all = left;
  all.insert(all.end(), right.begin(), right.end());
  Expr *call = callOn(ctx, node, *callee, all);
  if (!written->step)
    written->step = dyn_cast<CallExpr>(call);
  std::vector<Expr *> results = {call};
  // A `fn` of several values gives a tuple, whose elements are bound before they are assigned.
  if (!isMissing(call) && call->type->kind == TypeKind::Tuple) {
    auto *let = newStmt<LetStmt>(ctx, node);
    let->value = call;
    results.clear();
    for (const Type *type : call->type->elements) {
      let->locals.push_back(declareLocal(ctx, LocalKind::Let, "", ctx.span(node), type, kNoNode));
      results.push_back(refTo(ctx, let->locals.back(), node));
    }
    block->stmts.push_back(let);
  }
  // All results exist by the time that the first variable changes.
  for (size_t i = 0; !isMissing(call) && i < values.size() && i < results.size(); ++i) {
    auto *assign = newStmt<AssignStmt>(ctx, node);
    assign->target = values[i];
    assign->value = results[i];
    block->stmts.push_back(assign);
  }
  block = outer;
  return !isMissing(call);
}

static Expr *isBelow(Context &ctx, NodeId node, Expr *a, Expr *b) {
  return makeOp(ctx, findOp("<", 2), node, boolType(ctx), {a, b});
}

bool FoldWriter::addSteps() {
  // This is the doubling scan of Hillis and Steele: ⌈log₂ n⌉ steps, each over the whole array.
  Extent extent = turnedShape().extents[turnedShape().rank() - static_cast<size_t>(-along)];
  // With a constant capacity the number of steps is known here. With another capacity each step
  // stands under a `static if`, which is decided when compiling for a target.
  auto most = extent.capacity ? extent.capacity.constant() : std::nullopt;
  if (extent.capacity) {
    for (int64_t step = 0; step < kMaxDoublings; ++step) {
      Dim distance = ctx.dims.constant(int64_t(1) << step);
      // Positions at this distance lie outside of the array, so the step would change nothing.
      if (most && *distance.constant() >= *most)
        break;
      auto *branch = newStmt<IfStmt>(ctx, node);
      branch->isStatic = true;
      branch->condition =
          isBelow(ctx, node, dimValue(ctx, distance, node), dimValue(ctx, extent.capacity, node));
      branch->thenBlock = most ? block : ctx.program.make<Block>();
      if (!addStep(branch->thenBlock, distance))
        return false;
      if (!most)
        block->stmts.push_back(branch);
    }
    return true;
  }
  // Without a capacity a loop doubles the distance until it reaches the length.
  Expr *one = dimValue(ctx, ctx.dims.constant(1), node);
  Local *reached = bind(LocalKind::Var, one, intType(ctx));
  auto *loop = newStmt<WhileStmt>(ctx, node);
  loop->condition =
      isBelow(ctx, node, refTo(ctx, reached, node), dimValue(ctx, extent.length, node));
  loop->body = ctx.program.make<Block>();
  Block *outer = std::exchange(block, loop->body);
  // The distance is a `let` in the body, because types speak of it and cannot speak of a variable.
  Local *distance = bind(LocalKind::Let, refTo(ctx, reached, node), intType(ctx));
  bool isAdded = addStep(loop->body, distance->dim);
  auto *assign = newStmt<AssignStmt>(ctx, node);
  assign->target = reached;
  // `reached + reached` doubles it.
  assign->value = makeOp(ctx, findOp("+", 2), node, intType(ctx),
                         {refTo(ctx, reached, node), refTo(ctx, reached, node)});
  loop->body->stmts.push_back(assign);
  block = outer;
  block->stmts.push_back(loop);
  return isAdded;
}

Expr *FoldWriter::result() {
  std::vector<Expr *> results;
  std::vector<const Type *> types;
  for (size_t i = 0; i < values.size(); ++i) {
    // A reduction leaves its result in the first position along the axis.
    Expr *value = isReduce ? part(values[i], ctx.dims.constant(0), ctx.dims.constant(1),
                                  refTo(ctx, startLocals[i], node))
                           : refTo(ctx, values[i], node);
    results.push_back(keepsAxis ? turnedBack(value) : withoutAxis(turnedBack(value)));
    types.push_back(results.back()->type);
  }
  if (results.size() == 1)
    return results[0];
  auto *tuple = newExpr<TupleExpr>(ctx, node, tupleType(ctx, types));
  tuple->elements = results;
  return tuple;
}

Expr *FoldWriter::run() {
  // An `if true` is an expression with a block, which holds the statements that a value needs.
  auto *expr = newExpr<IfExpr>(ctx, node, errorType(ctx));
  ScopeGuard scope(ctx);
  expr->condition = trueExpr(ctx, node);
  block = expr->thenBlock = ctx.program.make<Block>();
  expr->fold = written = ctx.program.make<WrittenFold>();
  written->operands = operands;
  written->starts = starts;
  written->axis = axis;
  written->isReduce = isReduce;
  written->keepsAxis = keepsAxis;
  expr->elseBlock = ctx.program.make<Block>();
  // A vector always is turned into a column; of several axes only the last one is turned.
  bool isTurned = shape().rank() > 1 ? axis == -1 : !shape().prefix;
  // In a turned operand the axis is the last but one, where rows are.
  along = isTurned ? -2 : axis;
  for (size_t i = 0; i < operands.size(); ++i) {
    startLocals.push_back(bind(LocalKind::Let, starts[i], starts[i]->type));
    values.push_back(bind(LocalKind::Var, turned(operands[i]),
                          shapedType(ctx, operands[i]->type->elem, turnedShape())));
  }
  if (!addSteps())
    return errorExpr(ctx, node);
  block->value = result();
  expr->type = block->value->type;
  return expr;
}

Expr *checkFold(Context &ctx, NodeId node, std::string_view name,
                const std::vector<CallArgument> &args) {
  if (name != "scan" && name != "reduce")
    return nullptr;
  FoldWriter fold{ctx, node, std::string(name), name == "reduce"};
  return fold.readArguments(args) ? fold.run() : errorExpr(ctx, node);
}

} // namespace ptl
