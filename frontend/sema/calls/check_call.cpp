#include "frontend/sema/calls/check_call.h"

#include "frontend/sema/block/check_block_call.h"
#include "frontend/sema/calls/check_callable.h"
#include "frontend/sema/calls/check_fold.h"
#include "frontend/sema/calls/check_op_call.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/foreign_names.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/placement/movement_call.h"
#include "frontend/sema/placement/pool_call.h"
#include "frontend/sema/statements/check_assign.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

namespace ptl {

std::vector<CallArgument> callArguments(Context &ctx, NodeId node) {
  std::vector<CallArgument> args;
  for (NodeId arg : CallExprView(ctx.tree, node).args()) {
    CallArgument result;
    result.node = arg;
    result.span = ctx.span(arg);
    result.value = arg;
    if (ctx.tree.is(arg, NodeKind::Arg)) {
      ArgView view(ctx.tree, arg);
      if (view.name() != kNoNode)
        result.name = ctx.text(view.name());
      result.value = view.value();
      result.isInout = view.has(NodeFlag::Inout);
    }
    args.push_back(result);
  }
  return args;
}

/// Checks the arguments of an unknown callee, so that errors in them are reported.
static void checkLooseArguments(Context &ctx, const std::vector<CallArgument> &args) {
  for (const CallArgument &arg : args)
    if (arg.value != kNoNode && !ctx.tree.is(arg.value, NodeKind::DotName) &&
        !namesType(ctx, arg.value))
      checkBase(ctx, arg.value);
}

// ---- Conversions --------------------------------------------------------------------------------

static std::optional<RoundMode> roundByName(std::string_view name) {
  if (name == "floor")
    return RoundMode::Down;
  if (name == "ceil")
    return RoundMode::Up;
  return roundModeByName(name);
}

namespace {
struct ConversionArgs {
  NodeId value = kNoNode;
  std::optional<RoundMode> round;
  bool saturate = false;
  bool ok = true;
};
} // namespace

static ConversionArgs conversionArgs(Context &ctx, NodeId node, const std::string &name) {
  ConversionArgs result;
  for (const CallArgument &arg : callArguments(ctx, node)) {
    if (arg.name.empty() || arg.name == "x") {
      if (result.value != kNoNode) {
        ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(node), {name, "one value", "more"});
        result.ok = false;
      }
      result.value = arg.value;
    } else if (arg.name == "round") {
      bool isTag = ctx.tree.is(arg.value, NodeKind::DotName);
      std::string_view tag =
          isTag ? ctx.text(DotNameView(ctx.tree, arg.value).name()) : ctx.text(arg.value);
      result.round = isTag ? roundByName(tag) : std::nullopt;
      if (!result.round) {
        ctx.sink.report(DiagId::UnknownEnumValue, ctx.span(arg.value),
                        {std::string(tag), "round", "`.even` `.away` `.zero` `.down` `.up`"});
        result.ok = false;
      }
    } else if (arg.name == "saturate") {
      auto value = evalConst(ctx, arg.value);
      if (value && value->kind == ConstKind::Bool) {
        result.saturate = value->boolean;
      } else {
        ctx.sink.report(DiagId::NotConstantArgument, ctx.span(arg.value),
                        {"saturate", "`true` or `false`"});
        result.ok = false;
      }
    } else {
      ctx.sink.report(DiagId::UnknownArgument, arg.span, {name, std::string(arg.name)});
      result.ok = false;
    }
  }
  if (result.value == kNoNode && result.ok) {
    ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(node), {name, "one value", "none"});
    result.ok = false;
  }
  return result;
}

/// Converts a constant once, at compile time. Null if it needs a rounding that is not given, or a
/// run-time conversion.
static Expr *convertConstant(Context &ctx, NodeId node, const ConstValue &value, Elem target,
                             const ConversionArgs &args) {
  bool toInteger = elemIs(target, ElemConstraint::Integer);
  bool simple = value.kind != ConstKind::Bool && (!toInteger || value.isIntegral()) &&
                !args.saturate && !(target == Elem{ElemKind::Bool}) && !target.param;
  if (!simple)
    return nullptr;
  ConstValue untyped = value;
  untyped.type.reset();
  return makeConst(ctx, untyped, scalarType(ctx, target), node,
                   args.round.value_or(RoundMode::Even));
}

static Expr *checkConversion(Context &ctx, NodeId node, Elem target) {
  std::string name = toString(target);
  ConversionArgs args = conversionArgs(ctx, node, name);
  if (!args.ok) {
    if (args.value != kNoNode)
      checkOperand(ctx, args.value);
    return errorExpr(ctx, node);
  }
  Operand operand = checkOperand(ctx, args.value);
  if (operand.isUntyped()) {
    if (Expr *constant = convertConstant(ctx, node, *operand.constant, target, args))
      return constant;
    // `T(0)`: every number type holds it.
    if (target.param && elemIs(target, ElemConstraint::Number) && !args.round)
      if (elemIs(target, ElemConstraint::Float) || operand.constant->isIntegral())
        return makeConst(ctx, *operand.constant, scalarType(ctx, target), node);
  }
  Expr *value = settle(ctx, operand);
  if (isMissing(value))
    return errorExpr(ctx, node);
  const Type *type = value->type;
  if (!type->isScalar() && !type->isArray()) {
    ctx.sink.report(DiagId::OperandNotAllowed, value->span,
                    {name, "`" + toString(ctx, type) + "`"});
    return errorExpr(ctx, node);
  }
  bool fromFloat =
      !elemIs(type->elem, ElemConstraint::Integer) && !(type->elem == Elem{ElemKind::Bool});
  // A `T: number` may be an integer type, so its conversions must give a rounding.
  bool toInteger = elemIs(target, ElemConstraint::Integer) ||
                   (target.param && !elemIs(target, ElemConstraint::Float) &&
                    target.param->constraint != ElemConstraint::Bool);
  if (fromFloat && toInteger && !args.round && !(type->elem == target)) {
    Span span = ctx.span(node);
    ctx.sink.report(DiagId::RoundingRequired, span, {toString(ctx, type), name})
        .fix(FixId::Rounding, "choose one, for example `round: .even`",
             {{{span.file, span.end - 1, span.end - 1}, ", round: .even"}});
    return errorExpr(ctx, node);
  }
  if (type->isArray() && elemIsInt(target)) {
    ctx.sink
        .report(DiagId::NotScalar, value->span,
                {"the operand of a conversion to `int`", toString(ctx, type)})
        .help("use `i64`: elements of any integer type may index");
    return errorExpr(ctx, node);
  }
  if (type->elem == target && !args.round)
    return value;
  auto *convert = newExpr<ConvertExpr>(ctx, node, shapedType(ctx, target, shapeOf(type)));
  convert->arg = value;
  convert->round = args.round.value_or(RoundMode::Even);
  convert->saturate = args.saturate;
  if (type->isInt())
    convert->dim = elemIsInt(target) ? value->dim : Dim();
  return convert;
}

// ---- Callees ------------------------------------------------------------------------------------

static Expr *checkMemberCall(Context &ctx, NodeId node, NodeId callee, const Type *expected);

/// The text `low..high step n` for a call `range(low, high, n)`; empty if it is no such call.
static std::string rangeText(Context &ctx, const std::vector<CallArgument> &args) {
  std::vector<std::string> texts;
  for (const CallArgument &arg : args)
    if (arg.name.empty() && arg.value != kNoNode)
      texts.push_back(operandText(ctx, arg.value, Precedence::Or));
  if (texts.size() != args.size() || texts.empty() || texts.size() > 3)
    return "";
  std::string range = texts.size() == 1 ? "0.." + texts[0] : texts[0] + ".." + texts[1];
  return range + (texts.size() == 3 ? " step " + texts[2] : "");
}

/// Reports a name that is neither built in nor declared, with the nearest one.
static Expr *reportUnknown(Context &ctx, NodeId node, std::string_view name,
                           const std::vector<CallArgument> &args) {
  Span span = ctx.span(CallExprView(ctx.tree, node).callee());
  if (std::string range = name == "range" ? rangeText(ctx, args) : ""; !range.empty()) {
    ctx.sink.report(DiagId::UnknownFunction, span, {std::string(name)})
        .fix(FixId::ForeignName, "write `" + range + "`", {{ctx.span(node), range}});
  } else {
    reportUnknownCallable(ctx, name, span);
  }
  checkLooseArguments(ctx, args);
  return errorExpr(ctx, node);
}

/// Checks the call of a declared function: a plain call, or a movement that the function describes.
static Expr *checkFunction(Context &ctx, NodeId node, const CallableDecl &callee,
                           const std::vector<CallArgument> &args) {
  Expr *moved = checkRowsCall(ctx, node, callee, args);
  return moved ? moved : checkCallable(ctx, node, callee, args);
}

static Expr *callByName(Context &ctx, NodeId node, std::string_view name, const Type *expected) {
  std::vector<CallArgument> args = callArguments(ctx, node);
  // Declarations of the user take precedence over what is built in, so that new operations never
  // change old programs.
  CalleeRef ref = lookupCallable(ctx, name);
  if (ref.callable)
    return checkFunction(ctx, node, *ref.callable, args);
  if (ref.structDecl)
    return checkStructMake(ctx, node, *ref.structDecl, args);
  if (name == "tiles") {
    ctx.sink.report(DiagId::TilesOutsideLoop, ctx.span(node), {});
    checkLooseArguments(ctx, args);
    return errorExpr(ctx, node);
  }
  if (Expr *block = checkBlockCall(ctx, node, name, args, expected))
    return block;
  if (Expr *fold = checkFold(ctx, node, name, args))
    return fold;
  if (isFetch(ctx, node)) {
    ctx.sink
        .report(DiagId::StatementNotHere, ctx.span(node),
                {"`" + std::string(name) + "`", "an expression"})
        .help("bind the replaced value to a name: `let old = " + std::string(name) +
              "(inout y[i], v)`");
    return errorExpr(ctx, node);
  }
  if (Expr *moved = checkMovementCall(ctx, node, name, args))
    return moved;
  if (Expr *task = checkSubmit(ctx, node, name, args))
    return task;
  if (Expr *page = checkPoolCall(ctx, node, name, args))
    return page;
  if (!findOps(name).empty())
    return checkOpCall(ctx, node, name, args, expected);
  if (name.empty()) {
    checkLooseArguments(ctx, args);
    return errorExpr(ctx, node);
  }
  return reportUnknown(ctx, node, name, args);
}

Expr *checkCall(Context &ctx, NodeId node, const Type *expected) {
  NodeId callee = skipParens(ctx, CallExprView(ctx.tree, node).callee());
  bool isName = ctx.tree.is(callee, NodeKind::NameExpr);
  // A declaration of the user may have the name of an element type, and hides it.
  bool isHidden = isName && bool(lookupCallable(ctx, ctx.text(callee)));
  if (!isHidden)
    if (auto elem = findElem(ctx, callee))
      return checkConversion(ctx, node, *elem);
  if (isName)
    return callByName(ctx, node, ctx.text(callee), expected);
  if (ctx.tree.is(callee, NodeKind::MemberExpr))
    return checkMemberCall(ctx, node, callee, expected);
  if (!ctx.tree.is(callee, NodeKind::Error))
    ctx.sink.report(DiagId::NotCallable, ctx.span(callee), {std::string(ctx.text(callee))});
  checkLooseArguments(ctx, callArguments(ctx, node));
  return errorExpr(ctx, node);
}

/// The element type to which `x.astype(f16)` or a method such as `x.half()` converts; empty if it
/// is no conversion.
static std::string conversionOf(Context &ctx, std::string_view method,
                                const std::vector<CallArgument> &args) {
  const ForeignName *foreign = foreignType(method);
  if (args.empty())
    return foreign ? std::string(foreign->ours) : "";
  bool converts = method == "astype" || method == "to" || method == "cast" || method == "type";
  if (!converts || args.size() != 1 || args[0].value == kNoNode)
    return "";
  const ForeignName *named = foreignType(ctx.text(args[0].value));
  auto elem = findElem(ctx, args[0].value);
  return elem ? toString(*elem) : named ? std::string(named->ours) : "";
}

/// Offers the way in which `object.name(…)` is written in this language.
static void offerFunction(Context &ctx, DiagnosticBuilder report, NodeId node,
                          std::string_view name, const std::vector<CallArgument> &args) {
  NodeId callee = skipParens(ctx, CallExprView(ctx.tree, node).callee());
  std::string object(ctx.text(MemberExprView(ctx.tree, callee).base()));
  Span whole = ctx.span(node), open = ctx.tree.mainSpan(node);
  auto replace = [&](uint32_t end, std::string text) {
    return TextEdit{{whole.file, whole.begin, end}, std::move(text)};
  };
  if (std::string type = conversionOf(ctx, name, args); !type.empty()) {
    std::string text = type + "(" + object + ")";
    report.fix(FixId::CallNotMethod, "write `" + text + "`", std::vector{replace(whole.end, text)});
    return;
  }
  const ForeignName *foreign = foreignCall(name);
  if (foreign && foreign->ours.empty()) {
    report.help(std::string(foreign->how));
    return;
  }
  std::string function(foreign ? foreign->ours : name);
  if (findOps(function).empty() && !lookupCallable(ctx, function))
    return;
  // Extents and axes are given as a list.
  bool wantsList = (function == "reshape" || function == "transpose" || function == "broadcast") &&
                   !args.empty() && args[0].name.empty() &&
                   !ctx.tree.is(args[0].value, NodeKind::ListExpr);
  std::vector<TextEdit> edits = {replace(open.end, function + "(" + object +
                                                       (args.empty() ? ""
                                                        : wantsList  ? ", ["
                                                                     : ", "))};
  if (wantsList)
    edits.push_back({{whole.file, whole.end - 1, whole.end - 1}, "]"});
  std::string rest = args.empty() ? ")`" : wantsList ? ", […])`" : ", …)`";
  report.fix(FixId::CallNotMethod, "write `" + function + "(" + object + rest, std::move(edits));
}

/// `nn.silu(x)`. There are no methods; the report on `x.f(…)` says how to write it.
static Expr *checkMemberCall(Context &ctx, NodeId node, NodeId callee, const Type *expected) {
  MemberExprView view(ctx.tree, callee);
  std::vector<CallArgument> args = callArguments(ctx, node);
  std::string_view name = ctx.text(view.name());
  if (ctx.tree.is(view.base(), NodeKind::NameExpr)) {
    ValueRef base = lookupValue(ctx, ctx.text(view.base()));
    if (base.module) {
      CalleeRef ref = lookupCallableIn(ctx, *base.module, name, ctx.span(view.name()));
      if (ref.callable)
        return checkFunction(ctx, node, *ref.callable, args);
      if (ref.structDecl)
        return checkStructMake(ctx, node, *ref.structDecl, args);
      checkLooseArguments(ctx, args);
      return errorExpr(ctx, node);
    }
    if (!base && reportUnknownModule(ctx, ctx.text(view.base()), name, ctx.span(view.base()),
                                     ctx.span(callee))) {
      checkLooseArguments(ctx, args);
      return errorExpr(ctx, node);
    }
  }
  // Values have no methods; the base and the arguments are checked for errors of their own.
  Expr *base = checkBase(ctx, view.base());
  checkLooseArguments(ctx, args);
  if (!isMissing(base)) {
    Span span = ctx.span(callee);
    std::string object(ctx.text(view.base()));
    auto report = ctx.sink.report(DiagId::NoMethods, span, {object, std::string(name)});
    offerFunction(ctx, report, node, name, args);
  }
  return errorExpr(ctx, node);
}

} // namespace ptl
