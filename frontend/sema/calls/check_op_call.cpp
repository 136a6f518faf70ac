#include "frontend/sema/calls/check_op_call.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/calls/check_op_custom_data.h"
#include "frontend/sema/calls/match_signature.h"
#include "frontend/sema/calls/op_call.h"
#include "frontend/sema/calls/op_call_reports.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/check_index.h"
#include "frontend/sema/expressions/check_operator.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_dim.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

// ---- Axes ---------------------------------------------------------------------------------------

static void readAxes(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  node = skipParens(ctx, node);
  // One axis may be given without a list.
  std::vector<NodeId> nodes = {node};
  if (ctx.tree.is(node, NodeKind::ListExpr)) {
    auto elements = ListExprView(ctx.tree, node).elements();
    nodes.assign(elements.begin(), elements.end());
    if (param.kind == ParamKind::Axis && nodes.size() != 1) {
      ctx.sink.report(DiagId::NotConstantArgument, ctx.span(node),
                      {std::string(param.name), "one axis"});
      call.hasErrors = true;
      return;
    }
  }
  std::vector<int64_t> axes;
  for (NodeId each : nodes) {
    auto value = evalConst(ctx, each);
    auto axis = value ? value->integer() : std::nullopt;
    if (!axis) {
      ctx.sink.report(DiagId::NotConstantArgument, ctx.span(each),
                      {std::string(param.name), "a constant integer"});
      call.hasErrors = true;
      return;
    }
    axes.push_back(*axis);
    call.axisSpans.push_back(ctx.span(each));
  }
  call.axes = std::move(axes);
}

// ---- Arguments by kind --------------------------------------------------------------------------

static void readDims(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  Shape shape;
  node = skipParens(ctx, node);
  // A shape is a list; a tuple is the usual mistake and has a fix of its own.
  if (!ctx.tree.is(node, NodeKind::ListExpr)) {
    auto report = ctx.sink.report(DiagId::ShapeNeeded, ctx.span(node), {std::string(param.name)});
    Span span = ctx.span(node);
    if (ctx.tree.is(node, NodeKind::TupleExpr)) {
      report.fix(FixId::ShapeList, "write it as a list: `[…]`",
                 {{{span.file, span.begin, span.begin + 1}, "["},
                  {{span.file, span.end - 1, span.end}, "]"}});
      call.hasErrors = true;
      return;
    }
    report.fix(
        FixId::ShapeList, "write it as a list: `[…]`",
        {{{span.file, span.begin, span.begin}, "["}, {{span.file, span.end, span.end}, "]"}});
    call.hasErrors = true;
    return;
  }
  for (NodeId element : ListExprView(ctx.tree, node).elements()) {
    // `..` in a shape stands for the leading axes.
    if (ctx.tree.is(element, NodeKind::RestIndex)) {
      shape.prefix = true;
      continue;
    }
    shape.extents.push_back(resolveExtent(ctx, element));
    call.hasErrors |= !shape.extents.back().length;
  }
  call.shapes.push_back({param.name, std::move(shape)});
}

static Expr *enumTag(Context &ctx, NodeId node, std::string_view tag) {
  auto *expr = newExpr<EnumTagExpr>(ctx, node, stringType(ctx));
  expr->tag = tag;
  return expr;
}

static void readEnum(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  // Values of enumerations are written with a dot.
  bool isTag = ctx.tree.is(node, NodeKind::DotName);
  std::string_view tag = isTag ? ctx.text(DotNameView(ctx.tree, node).name()) : std::string_view();
  if (std::find(param.enumValues.begin(), param.enumValues.end(), tag) != param.enumValues.end()) {
    call.others.push_back({param.name, enumTag(ctx, node, tag)});
    return;
  }
  std::string values;
  std::vector<std::string> candidates;
  for (std::string_view value : param.enumValues) {
    values += (values.empty() ? "`." : " `.") + std::string(value) + "`";
    candidates.emplace_back(value);
  }
  Span span = ctx.span(node);
  auto report = ctx.sink.report(DiagId::UnknownEnumValue, span,
                                {std::string(ctx.text(node)), std::string(param.name), values});
  suggestNearest(report, span, isTag ? tag : ctx.text(node), candidates, ".");
  call.hasErrors = true;
}

static void readConst(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  bool isBool = param.kind == ParamKind::BoolConst;
  Expr *value = checkExpr(ctx, node, isBool ? boolType(ctx) : intType(ctx));
  // The value has to be known when compiling, since it selects the instruction.
  bool fits = isMissing(value) || (isStaticValue(ctx, value) && value->type->isScalar() &&
                                   (value->type->isInt() != isBool));
  if (!fits)
    ctx.sink.report(DiagId::NotConstantArgument, ctx.span(node),
                    {std::string(param.name),
                     isBool ? "`true` or `false`" : "an integer known at compile time"});
  call.hasErrors |= !fits || isMissing(value);
  call.others.push_back({param.name, value});
}

static void readArrayType(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  // The type of the result is an argument of operations that create arrays.
  if (!namesType(ctx, node)) {
    ctx.sink
        .report(DiagId::TypeNeeded, ctx.span(node),
                {std::string(call.op->name), std::string(param.name)})
        .help("name the type of the result: `" + std::string(call.op->name) + "(f32" +
              shapeText(ctx.text(node)) + ")`");
    call.hasErrors = true;
    return;
  }
  call.arrayArg = resolveType(ctx, node);
  call.hasErrors |= call.arrayArg->isError();
  if (!call.hasErrors && !call.arrayArg->isArray() && !call.arrayArg->isScalar()) {
    ctx.sink.report(DiagId::TypeNeeded, ctx.span(node),
                    {std::string(call.op->name), std::string(param.name)});
    call.hasErrors = true;
  }
}

static void readRange(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  Operand operand = checkOperand(ctx, node);
  Expr *value = settle(ctx, operand);
  if (isMissing(value)) {
    call.hasErrors = true;
  } else if (value->type->kind != TypeKind::Range && !value->type->isInt()) {
    ctx.sink.report(DiagId::RangeNeeded, value->span,
                    {std::string(call.op->name), toString(ctx, value->type)});
    call.hasErrors = true;
  }
  call.others.push_back({param.name, value});
}

static void readText(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  if (!ctx.tree.is(node, NodeKind::StringLiteral)) {
    ctx.sink.report(DiagId::TextNeeded, ctx.span(node),
                    {"`" + std::string(param.name) + "` of `" + std::string(call.op->name) + "`"});
    call.hasErrors = true;
    return;
  }
  call.others.push_back({param.name, checkExpr(ctx, node)});
}

static void readArgument(Context &ctx, OpCall &call, const OpParam &param, NodeId node) {
  call.spans.push_back({param.name, ctx.span(node)});
  switch (param.kind) {
  case ParamKind::Value:
    // Operands share one signature, so they are matched together.
    return; // all values are read together, in order
  case ParamKind::Axis:
  case ParamKind::Axes:
    return readAxes(ctx, call, param, node);
  case ParamKind::IntConst:
  case ParamKind::BoolConst:
    return readConst(ctx, call, param, node);
  case ParamKind::Dim: {
    Expr *value = checkIntScalar(ctx, node, "`" + std::string(param.name) + "`");
    Dim dim = dimOrHoist(ctx, value);
    call.hasErrors |= !dim;
    call.dims.push_back({param.name, makeExtent(ctx, dim)});
    return;
  }
  case ParamKind::Dims:
    return readDims(ctx, call, param, node);
  case ParamKind::ElemType:
    call.named = findElem(ctx, node);
    if (!call.named)
      ctx.sink.report(DiagId::NotAType, ctx.span(node), {std::string(ctx.text(node))});
    call.hasErrors |= !call.named;
    return;
  case ParamKind::ArrayType:
    return readArrayType(ctx, call, param, node);
  case ParamKind::Range:
    return readRange(ctx, call, param, node);
  // A region keeps its bounds open, since what lies outside is given as well.
  case ParamKind::Region: {
    IndexExpr *region = ctx.tree.is(skipParens(ctx, node), NodeKind::IndexExpr)
                            ? checkRegion(ctx, skipParens(ctx, node))
                            : nullptr;
    if (!region) {
      ctx.sink.report(DiagId::RegionNeeded, ctx.span(node), {std::string(call.op->name)});
      call.hasErrors = true;
      return;
    }
    call.hasErrors |= isMissing(region);
    call.others.push_back({param.name, region});
    return;
  }
  case ParamKind::Function: // `check_fold.cpp` reads those
    return;
  case ParamKind::Enum:
    return readEnum(ctx, call, param, node);
  case ParamKind::Text:
    return readText(ctx, call, param, node);
  }
}

// ---- Defaults -----------------------------------------------------------------------------------

static void fillDefault(Context &ctx, OpCall &call, const OpParam &param) {
  switch (param.kind) {
  case ParamKind::Axis:
  case ParamKind::Axes:
    // Defaults are written as text in the record of the operation.
    if (auto axis = Rational::parse(param.defaultText.substr(param.defaultText.starts_with('-'))))
      if (auto number = axis->toInt64()) {
        call.axes = {param.defaultText.starts_with('-') ? -*number : *number};
        call.axisSpans = {call.span};
      }
    return;
  case ParamKind::ElemType:
    call.named = findElem(ctx, param.defaultText);
    return;
  case ParamKind::Enum:
    call.others.push_back({param.name, enumTag(ctx, call.node, param.defaultText.substr(1))});
    return;
  case ParamKind::BoolConst: {
    ConstValue value;
    value.kind = ConstKind::Bool;
    value.boolean = param.defaultText == "true";
    call.others.push_back({param.name, makeConst(ctx, value, boolType(ctx), call.node)});
    return;
  }
  default:
    return;
  }
}

/// The value of a default, as a constant that takes the type its place has.
static Operand defaultOperand(const OpCall &call, const OpParam &param) {
  Operand operand;
  operand.node = call.node;
  operand.span = call.span;
  std::string_view text = param.defaultText;
  bool negative = text.starts_with('-');
  if (auto number = Rational::parse(text.substr(negative))) {
    operand.constant = ConstValue();
    operand.constant->number = negative ? -*number : *number;
  }
  return operand;
}

// ---- Arguments to parameters --------------------------------------------------------------------

namespace {
/// The argument nodes of each parameter of a record.
struct Placed {
  std::vector<std::vector<const CallArgument *>> byParam;
  bool ok = true;
};
} // namespace

static Placed place(Context &ctx, const OpRecord &op, const std::vector<CallArgument> &args) {
  Placed placed;
  placed.byParam.resize(op.params.size());
  size_t next = 0;
  for (const CallArgument &arg : args) {
    size_t slot = op.params.size();
    if (arg.name.empty()) {
      // Positional arguments pass over parameters that only have a name.
      while (next < op.params.size() && op.params[next].keywordOnly)
        ++next;
      slot = next;
      // A variadic parameter takes all positional arguments that are left.
      if (next < op.params.size() && !op.params[next].variadic)
        ++next;
    } else {
      for (size_t i = 0; i < op.params.size(); ++i)
        if (op.params[i].name == arg.name)
          slot = i;
    }
    // Surplus arguments were reported when no record fitted.
    if (slot >= op.params.size())
      continue;
    if (!placed.byParam[slot].empty() && !op.params[slot].variadic) {
      ctx.sink.report(DiagId::ArgumentTwice, arg.span, {std::string(op.params[slot].name)})
          .label(placed.byParam[slot].front()->span, "given here first");
      placed.ok = false;
      continue;
    }
    if (arg.isInout) {
      ctx.sink.report(DiagId::InoutMarkedWrongly, arg.span,
                      {std::string(op.name), std::string(op.params[slot].name)});
      placed.ok = false;
    }
    placed.byParam[slot].push_back(&arg);
  }
  return placed;
}

/// Whether an operand has the element type of the result.
static bool sharesResultElem(const OpRecord &op, size_t operand) {
  const Signature &signature = op.signatures.front();
  if (signature.results.size() != 1 || operand >= signature.operands.size())
    return false;
  const ElemPattern &result = signature.results.front().elem,
                    &own = signature.operands[operand].elem;
  return result.kind == ElemPatternKind::Variable && own.kind == ElemPatternKind::Variable &&
         result.var == own.var;
}

static void readValues(Context &ctx, OpCall &call, const Placed &placed) {
  size_t operandIndex = 0;
  for (size_t i = 0; i < call.op->params.size(); ++i) {
    const OpParam &param = call.op->params[i];
    if (param.kind != ParamKind::Value)
      continue;
    for (const CallArgument *arg : placed.byParam[i]) {
      // The expected element type only helps operands that have the result's.
      bool shares = call.expected && sharesResultElem(*call.op, operandIndex);
      call.values.push_back(
          checkOperand(ctx, arg->value, shares ? scalarType(ctx, *call.expected) : nullptr));
      call.given.push_back(true);
      call.operandIndex.push_back(operandIndex);
      call.hasErrors |= call.values.back().isError();
    }
    // An operand that was not given has its default, or stays out of the signature.
    if (placed.byParam[i].empty()) {
      bool isBool = call.arrayArg && call.arrayArg->elem == Elem{ElemKind::Bool};
      Operand operand = isBool ? Operand() : defaultOperand(call, param);
      call.given.push_back(operand.constant.has_value());
      call.values.push_back(operand);
      call.operandIndex.push_back(operandIndex);
    }
    ++operandIndex;
  }
}

// ---- The expression -----------------------------------------------------------------------------

/// Arguments of the tree: one per parameter.
static void fillArgs(const OpCall &call, const OpMatch &match, OpExpr *expr) {
  expr->args.resize(call.op->params.size(), nullptr);
  size_t operandIndex = 0;
  for (size_t i = 0; i < call.op->params.size(); ++i) {
    const OpParam &param = call.op->params[i];
    if (param.kind != ParamKind::Value) {
      // `keep` is no argument of the tree: the reduction is indexed instead.
      bool isTakenApart = param.name == "keep"; // see `withoutAxes`
      expr->args[i] = isTakenApart ? nullptr : call.other(param.name);
      continue;
    }
    // A variadic parameter has several values.
    for (size_t v = 0; v < call.values.size(); ++v) {
      if (call.operandIndex[v] != operandIndex || !call.given[v])
        continue;
      if (param.variadic)
        expr->rest.push_back(match.values[v]);
      else
        expr->args[i] = match.values[v];
    }
    ++operandIndex;
  }
}

static void fillShape(const OpCall &call, OpExpr *expr) {
  if (call.arrayArg) {
    for (const Extent &extent : call.arrayArg->extents)
      expr->shape.push_back(extent.length);
    expr->shapeHasPrefix = call.arrayArg->prefix;
  }
  for (const auto &[name, shape] : call.shapes) {
    for (const Extent &extent : shape.extents)
      expr->shape.push_back(extent.length);
    expr->shapeHasPrefix |= shape.prefix;
  }
  for (const auto &[name, extent] : call.dims)
    expr->shape.push_back(extent.length);
}

static bool fillAxes(Context &ctx, const OpCall &call, OpExpr *expr) {
  bool hasAxes =
      std::any_of(call.op->params.begin(), call.op->params.end(), [](const OpParam &param) {
        return param.kind == ParamKind::Axis || param.kind == ParamKind::Axes;
      });
  // A reduction without axes reduces all of them.
  expr->reducesAll = call.op->opClass == OpClass::Reduction && hasAxes && !call.axes;
  // Operations with a check of their own read their axes there.
  bool custom = call.op->customCheck && call.op->opClass != OpClass::Scan &&
                call.op->opClass != OpClass::Sort;
  if (!call.axes || custom || call.values.empty() || !call.values.front().expr)
    return true;
  auto axes = normalizeAxes(ctx, call, shapeOf(call.values.front().expr->type));
  if (!axes)
    return false;
  expr->axes = *axes;
  std::sort(expr->axes.begin(), expr->axes.end());
  return true;
}

/// `expect…` and `random` belong to tests.
static void checkPlaceOfOp(Context &ctx, const OpCall &call) {
  bool testOnly = call.op->core == CoreKind::Host || call.op->name == "random";
  if (!testOnly || ctx.inTest() || !ctx.decl)
    return;
  auto report = ctx.sink.report(DiagId::OnlyInTests, call.span, {std::string(call.op->name)});
  if (call.op->name == "random")
    report.help("`philox(counter, seed)` gives random bits everywhere");
}

static void checkRandom(Context &ctx, OpCall &call, const std::vector<CallArgument> &args) {
  if (call.op->name != "random" || !call.arrayArg ||
      !elemIs(call.arrayArg->elem, ElemConstraint::Integer))
    return;
  for (std::string_view limit : {"low", "high"}) {
    bool given = std::any_of(args.begin(), args.end(),
                             [&](const CallArgument &arg) { return arg.name == limit; });
    if (given)
      continue;
    ctx.sink.report(DiagId::MissingArgument, call.span, {"random", std::string(limit)})
        .note("integers need both limits");
    call.hasErrors = true;
  }
}

static const Type *typeOfResults(Context &ctx, const OpMatch &match) {
  return match.results.size() == 1 ? match.results.front() : tupleType(ctx, match.results);
}

/// Arguments that were not read for want of a record are still checked.
static Expr *checkAnyway(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  for (const CallArgument &arg : args)
    // Only what can be an expression by itself is checked.
    if (arg.value != kNoNode && arg.name.empty() && !ctx.tree.is(arg.value, NodeKind::DotName) &&
        !namesType(ctx, arg.value))
      checkOperand(ctx, arg.value);
  return errorExpr(ctx, node);
}

/// Whether a reduction says `keep: false`.
static bool dropsAxes(const OpCall &call) {
  const Expr *keep = call.op->opClass == OpClass::Reduction ? call.other("keep") : nullptr;
  return keep && keep->kind == ExprKind::Const && cast<ConstExpr>(keep)->intValue == 0;
}

/// The reduction as if its axes were indexed away behind it: `sum(x, axis: 1)[:, 0]`. So every
/// reader of the tree knows it.
static Expr *withoutAxes(Context &ctx, OpExpr *reduction) {
  if (!reduction->type->isArray() || reduction->axes.empty())
    return reduction;
  const Type &type = *reduction->type;
  auto *index = newExpr<IndexExpr>(ctx, reduction->syntax, errorType(ctx));
  index->base = reduction;
  auto rank = static_cast<int64_t>(type.extents.size());
  Shape shape;
  shape.prefix = type.prefix;
  auto add = [&](IndexItemKind kind, int64_t axis) -> IndexItem & {
    IndexItem item;
    item.kind = kind;
    item.axis = axis;
    item.needsCheck = false;
    item.span = reduction->span;
    index->items.push_back(item);
    return index->items.back();
  };
  // Axes count from the end, so that leading axes of any number can stand before them.
  if (type.prefix)
    add(IndexItemKind::Rest, -rank).restHasPrefix = true;
  for (int64_t axis = -rank; axis < 0; ++axis) {
    if (std::find(reduction->axes.begin(), reduction->axes.end(), axis) != reduction->axes.end()) {
      add(IndexItemKind::Position, axis).value =
          dimValue(ctx, ctx.dims.constant(0), reduction->syntax);
      continue;
    }
    add(IndexItemKind::Full, axis);
    shape.extents.push_back(type.extents[static_cast<size_t>(axis + rank)]);
  }
  index->type = shapedType(ctx, type.elem, shape);
  return index;
}

Expr *checkOpCall(Context &ctx, NodeId node, std::string_view name,
                  const std::vector<CallArgument> &args, const Type *expected) {
  std::vector<std::string_view> named;
  for (const CallArgument &arg : args)
    if (!arg.name.empty())
      named.push_back(arg.name);
  OpCall call;
  // The record is found by the name, the number of arguments and their names.
  call.op = findOp(name, args.size() - named.size(), named);
  call.node = node;
  call.span = ctx.span(node);
  if (!call.op) {
    reportNoRecord(ctx, node, name, args);
    return checkAnyway(ctx, node, args);
  }
  // What is expected of the result may type its operands.
  if (expected && (expected->isScalar() || expected->isArray()))
    call.expected = expected->elem;
  checkPlaceOfOp(ctx, call);
  // Arguments are placed before they are read, since parameters decide how they are read.
  Placed placed = place(ctx, *call.op, args);
  for (size_t i = 0; i < call.op->params.size(); ++i) {
    if (!placed.byParam[i].empty())
      readArgument(ctx, call, call.op->params[i], placed.byParam[i].front()->value);
    else if (!call.op->params[i].defaultText.empty())
      fillDefault(ctx, call, call.op->params[i]);
  }
  readValues(ctx, call, placed);
  checkRandom(ctx, call, args);
  // `unique` works on the flattened array.
  if (call.op->id == OpId::Unique && call.values.size() == 1 && call.values[0].expr &&
      call.values[0].expr->type->isArray())
    call.values[0].expr = withOneAxis(ctx, call.values[0].expr);
  if (call.hasErrors || !placed.ok)
    return errorExpr(ctx, node);
  OpMatch match = matchSignature(ctx, call);
  if (!match.signature)
    return errorExpr(ctx, node);
  OpExpr *expr = makeOp(ctx, call.op, node, typeOfResults(ctx, match), {});
  for (const Expr *value : match.values)
    if (value && isMissing(value))
      return errorExpr(ctx, node);
  if (!call.op->customCheck && expr->type->isError())
    return expr;
  fillArgs(call, match, expr);
  fillShape(call, expr);
  if (!fillAxes(ctx, call, expr))
    return errorExpr(ctx, node);
  if (call.op->customCheck)
    // What a signature cannot say is checked by a function of the operation's own.
    expr->type = checkCustomOp(ctx, call, match, expr);
  // A load is the region that it loads.
  if (call.op->opClass == OpClass::Load && !isMissing(expr))
    return call.other("region");
  bool creates = (call.op->opClass == OpClass::Creation || call.op->opClass == OpClass::Shape) &&
                 ctx.isKind(DeclKind::Kernel) && !ctx.inWhere;
  if (creates && expr->type->isArray() &&
      !requireCapacity(ctx, expr->type, expr->span, "this array"))
    expr->type = errorType(ctx);
  checkDivisor(ctx, expr);
  setDim(ctx, expr);
  return dropsAxes(call) ? withoutAxes(ctx, expr) : expr;
}

} // namespace ptl
