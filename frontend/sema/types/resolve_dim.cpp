// Dimension expressions in types, shapes and `int` arguments.
#include "frontend/sema/types/resolve_dim.h"

#include "frontend/sema/declarations/declare_module.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/operand_text.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

static Dim reportNotDim(Context &ctx, NodeId node, std::string_view why) {
  ctx.sink.report(DiagId::NotADimension, ctx.span(node), {std::string(ctx.text(node))})
      .primary(std::string(why));
  return {};
}

/// What is made of known dimensions and numbers, which is unknown only if it is too large. Unknown
/// dimensions are equal to all others, so none may arise without a report.
static Dim orTooLarge(Context &ctx, NodeId node, Dim result) {
  if (!result)
    ctx.sink.report(DiagId::DimensionTooLarge, ctx.span(node));
  return result;
}

static Dim dimOfConst(Context &ctx, NodeId node, const ConstDecl *decl) {
  if (!completeConst(ctx.state, *decl))
    return {};
  auto found = ctx.state.constValues.find(decl);
  // A dimension is an exact integer.
  if (auto value = found->second.integer(); value && !found->second.isFloat)
    return orTooLarge(ctx, node, ctx.dims.constant(*value));
  return reportNotDim(ctx, node,
                      "this constant is " + toString(found->second) + ", not an integer");
}

static Dim dimOfLocal(Context &ctx, NodeId node, const Local &local) {
  if (local.kind == LocalKind::Tunable && !ctx.tunablesAllowed) {
    ctx.sink.report(DiagId::TunableInSignature, ctx.span(node), {local.name})
        .label(local.span, "declared here")
        .help("callers see the types of parameters and results, but not tunables; make it a "
              "dimension");
    return {};
  }
  // Most locals are dimensions or have errors.
  if (local.dim || !local.type || local.type->isError())
    return local.dim;
  if (local.type->kind == TypeKind::Range)
    return reportNotDim(ctx, node,
                        "a range must be a whole extent of a shape; its length is `" + local.name +
                            ".len`");
  if (local.kind == LocalKind::Var)
    // A dimension must keep its value as long as types mention it.
    return reportNotDim(ctx, node, "a `var` may change: bind its value with `let` first");
  if (local.isInout || local.kind == LocalKind::Output)
    return reportNotDim(ctx, node, "its value may change: bind it with `let` first");
  if (local.type->isScalar() && isInteger(local.type->elem.kind) && !local.type->elem.param)
    return reportNotDim(ctx, node,
                        "this is `" + toString(ctx, local.type) +
                            "`: dimensions are `int`, so write `let n = int(" + local.name + ")`");
  return reportNotDim(ctx, node,
                      "this is `" + toString(ctx, local.type) + "`; dimensions are `int`");
}

constexpr const char *kCalls = "a dimension may call `cdiv`, `min` and `max` only";
constexpr const char *kNamed = "an extent is named in the type of the array";
constexpr const char *kForms =
    "a dimension is made of names of dimensions, integers, `+ - * / % **`, `cdiv`, `min` and `max`";

static Dim dimOfName(Context &ctx, NodeId node) {
  std::string_view name = ctx.tree.mainText(node);
  ValueRef ref = lookupValue(ctx, name);
  if (ref.local)
    return dimOfLocal(ctx, node, *ref.local);
  if (ref.constant)
    return dimOfConst(ctx, node, ref.constant);
  if (ref.module || findElem(ctx, name))
    return reportNotDim(ctx, node, ref.module ? "this is a module" : "this is an element type");
  if (!name.empty())
    reportUnknownDim(ctx, name, ctx.span(node));
  return {};
}

static Dim dimOfMember(Context &ctx, NodeId node) {
  MemberExprView member(ctx.tree, node);
  std::string_view field = ctx.text(member.name());
  if (!ctx.tree.is(member.base(), NodeKind::NameExpr))
    return reportNotDim(ctx, node, kForms);
  ValueRef ref = lookupValue(ctx, ctx.tree.mainText(member.base()));
  if (ref.module) {
    ValueRef value = lookupValueIn(ctx, *ref.module, field, ctx.span(member.name()));
    return value.constant ? dimOfConst(ctx, node, value.constant) : Dim();
  }
  if (!ref) {
    reportUnknownValue(ctx, ctx.tree.mainText(member.base()), ctx.span(member.base()));
    return {};
  }
  if (!ref.local || !ref.local->type || ref.local->type->kind != TypeKind::Range)
    return ref.local && ref.local->type && ref.local->type->isError()
               ? Dim()
               : reportNotDim(ctx, node, field == "shape" || field == "size" ? kNamed : kForms);
  const RangeInfo &range = *ref.local->type->range;
  if (field == "start")
    return range.start;
  if (field == "len")
    return range.length;
  if (field == "end") {
    Dim step = range.step ? range.step : ctx.dims.constant(1);
    // A range in error has no start or length, which has been reported.
    return range.start && range.length
               ? orTooLarge(ctx, node, ctx.dims.add(range.start, ctx.dims.mul(range.length, step)))
               : Dim();
  }
  if (field == "size" && range.size)
    return range.size;
  if (field == "count" && range.count)
    return range.count;
  if (field == "size" || field == "count")
    return reportNotDim(ctx, node, "only ranges made by `tiles` have a size and a count");
  return reportNotDim(
      ctx, member.name(),
      "a range has `start`, `end` and `len`, and from `tiles` also `size` and `count`");
}

/// Whether a division by `divisor` has a value; otherwise it is reported.
static bool canDivide(Context &ctx, NodeId node, Dim divisor) {
  auto number = divisor.constant();
  if (!number || *number > 0)
    return true;
  ctx.sink.report(DiagId::DimensionDivisor, ctx.span(node), {std::to_string(*number)});
  return false;
}

/// `a ** b`, and `a << b` as `a * 2 ** b`.
static Dim power(Context &ctx, NodeId node, Dim a, Dim exponent, TokenKind op) {
  if (!DimContext::isExponent(exponent))
    return reportNotDim(ctx, node, "the exponent must be a small constant");
  bool isShift = op == TokenKind::ShiftLeft;
  Dim result = ctx.dims.power(isShift ? ctx.dims.constant(2) : a, exponent);
  return orTooLarge(ctx, node, isShift ? ctx.dims.mul(a, result) : result);
}

static Dim computed(Context &ctx, NodeId node, Dim a, Dim b, TokenKind op) {
  switch (op) {
  case TokenKind::Plus:
    return orTooLarge(ctx, node, ctx.dims.add(a, b));
  case TokenKind::Minus:
    return orTooLarge(ctx, node, ctx.dims.sub(a, b));
  case TokenKind::Star:
    return orTooLarge(ctx, node, ctx.dims.mul(a, b));
  case TokenKind::StarStar:
  case TokenKind::ShiftLeft:
    return power(ctx, node, a, b, op);
  default:
    if (!canDivide(ctx, node, b))
      return {};
    return orTooLarge(ctx, node,
                      op == TokenKind::Slash ? ctx.dims.floorDiv(a, b) : ctx.dims.mod(a, b));
  }
}

static Dim dimOfBinary(Context &ctx, NodeId node) {
  BinaryExprView binary(ctx.tree, node);
  TokenKind op = ctx.tree.mainKind(node);
  bool isArithmetic = op == TokenKind::Plus || op == TokenKind::Minus || op == TokenKind::Star ||
                      op == TokenKind::Slash || op == TokenKind::Percent ||
                      op == TokenKind::StarStar || op == TokenKind::ShiftLeft;
  if (!isArithmetic)
    return reportNotDim(ctx, node,
                        "a dimension is computed by `+ - * / % **`, `cdiv`, `min` and `max` only");
  Dim a = resolveDim(ctx, binary.lhs());
  Dim b = resolveDim(ctx, binary.rhs());
  return a && b ? computed(ctx, node, a, b, op) : Dim();
}

/// `len(x)` and `size(x)` of other languages have the name that the type of `x` gives the extent.
static Dim reportCall(Context &ctx, NodeId node, const CallExprView &call, std::string_view name) {
  bool asksForLength = name == "len" || name == "size" || name == "shape";
  auto report =
      ctx.sink.report(DiagId::NotADimension, ctx.span(node), {std::string(ctx.text(node))});
  report.primary(asksForLength ? kNamed : kCalls);
  if (!asksForLength || call.args().size() != 1)
    return {};
  NodeId value = ArgView(ctx.tree, call.args()[0]).value();
  const Local *local =
      ctx.tree.is(value, NodeKind::NameExpr) ? ctx.scope.find(ctx.tree.mainText(value)) : nullptr;
  if (!local || !local->type || !local->type->isArray() || local->type->extents.size() != 1)
    return {};
  offerExtent(ctx, report, node, local->type->extents[0]);
  return {};
}

static Dim dimOfCall(Context &ctx, NodeId node) {
  CallExprView call(ctx.tree, node);
  if (!ctx.tree.is(call.callee(), NodeKind::NameExpr))
    return reportNotDim(ctx, node, kCalls);
  std::string_view name = ctx.tree.mainText(call.callee());
  // A function that the user declares under such a name is no dimension operation.
  bool isKnown = (name == "cdiv" || name == "min" || name == "max") && !lookupCallable(ctx, name);
  if (!isKnown)
    return reportCall(ctx, node, call, name);
  std::vector<Dim> args;
  for (NodeId arg : call.args()) {
    ArgView view(ctx.tree, arg);
    args.push_back(resolveDim(ctx, view.value()));
    if (!args.back())
      return {};
  }
  if (args.size() < 2 || (name == "cdiv" && args.size() != 2))
    return reportNotDim(ctx, node,
                        name == "cdiv" ? "`cdiv` takes two dimensions"
                                       : "two or more dimensions are needed");
  if (name == "cdiv" && !canDivide(ctx, node, args[1]))
    return {};
  return orTooLarge(ctx, node,
                    name == "cdiv"  ? ctx.dims.ceilDiv(args[0], args[1])
                    : name == "min" ? ctx.dims.min(args)
                                    : ctx.dims.max(args));
}

static Dim dimOfLiteral(Context &ctx, NodeId node) {
  auto value = evalConst(ctx, node);
  if (!value)
    return {};
  if (auto integer = value->integer(); integer && !value->isFloat)
    return ctx.dims.constant(*integer);
  return reportNotDim(ctx, node,
                      value->isIntegral() ? "it does not fit 64 bits" : "it is not an integer");
}

Dim resolveDim(Context &ctx, NodeId node) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::Error:
    return {};
  case NodeKind::IntLiteral:
  case NodeKind::SizeLiteral:
  case NodeKind::FloatLiteral:
    return dimOfLiteral(ctx, node);
  case NodeKind::NameExpr:
  case NodeKind::Name:
    return dimOfName(ctx, node);
  case NodeKind::MemberExpr:
    return dimOfMember(ctx, node);
  case NodeKind::ParenExpr:
    return resolveDim(ctx, ParenExprView(ctx.tree, node).inner());
  case NodeKind::BinaryExpr:
    return dimOfBinary(ctx, node);
  case NodeKind::CallExpr:
    return dimOfCall(ctx, node);
  case NodeKind::UnaryExpr:
    if (ctx.tree.mainKind(node) == TokenKind::Minus) {
      Dim operand = resolveDim(ctx, UnaryExprView(ctx.tree, node).operand());
      return operand ? orTooLarge(ctx, node, ctx.dims.negate(operand)) : Dim();
    }
    return reportNotDim(ctx, node, kForms);
  case NodeKind::RangeExpr:
    return reportNotDim(ctx, node, "a shape holds lengths, not ranges; name the range in a loop");
  default:
    return reportNotDim(ctx, node, kForms);
  }
}

/// The range that a shape entry names: `r`, a shift `r + 1`, or a multiple `2*r + c`. All have the
/// length of `r`.
static const RangeInfo *findRange(Context &ctx, NodeId node) {
  if (ctx.tree.is(node, NodeKind::ParenExpr))
    return findRange(ctx, ParenExprView(ctx.tree, node).inner());
  if (ctx.tree.is(node, NodeKind::NameExpr)) {
    // Only locals are ranges.
    const Local *local = ctx.scope.find(ctx.tree.mainText(node));
    bool isRange = local && local->type && local->type->kind == TypeKind::Range;
    if (isRange)
      ctx.scope.markUsed(local);
    return isRange ? local->type->range : nullptr;
  }
  if (!ctx.tree.is(node, NodeKind::BinaryExpr))
    return nullptr;
  TokenKind op = ctx.tree.mainKind(node);
  BinaryExprView binary(ctx.tree, node);
  // Both operands are examined, because the range may be on either side.
  const RangeInfo *left = findRange(ctx, binary.lhs());
  const RangeInfo *right = findRange(ctx, binary.rhs());
  // A range minus a number is a shift; a number minus a range would reverse it.
  if (left && !right && (op == TokenKind::Plus || op == TokenKind::Minus || op == TokenKind::Star))
    return left;
  if (right && !left && (op == TokenKind::Plus || op == TokenKind::Star))
    return right;
  return nullptr;
}

Extent resolveExtent(Context &ctx, NodeId node) {
  if (const RangeInfo *range = findRange(ctx, node)) {
    bool isName = ctx.tree.is(node, NodeKind::NameExpr);
    Extent extent = makeExtent(ctx, range->length, range);
    // A shifted range has the length of the range, but other positions.
    if (!isName)
      extent.range = nullptr;
    return extent;
  }
  Dim length = resolveDim(ctx, node), none = ctx.dims.constant(0);
  // `0 - N` has a value where `N` is 0, which nobody means.
  bool isNeverMore = length && ctx.facts.proveLessEqual(length, none).isTrue() &&
                     !ctx.facts.proveNonNegative(length).isTrue();
  if (isNeverMore || (length && ctx.facts.proveLess(length, none).isTrue())) {
    auto report =
        ctx.sink.report(DiagId::NegativeExtent, ctx.span(node), {ctx.dims.toString(length)});
    // `-1` for the remaining extent is a habit from other libraries.
    if (length.isConstant(-1))
      report.help("an extent that is left over is named like the others: `[N, 4]`, `[M * N]`");
    length = {};
  }
  return makeExtent(ctx, length);
}

} // namespace ptl
