#include "frontend/sema/placement/movement_call.h"

#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/types/resolve_dim.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

static NodeId namedArgument(const Tree &tree, NodeId call, std::string_view name) {
  for (NodeId arg : CallExprView(tree, call).args()) {
    if (!tree.is(arg, NodeKind::Arg))
      continue;
    ArgView view(tree, arg);
    if (view.name() != kNoNode && tree.text(view.name()) == name)
      return view.value();
  }
  return kNoNode;
}

const MovementRecord *movementOf(const Tree &tree, const Expr &expr) {
  const auto *convert = dyn_cast<ConvertExpr>(&expr);
  if (!convert || convert->syntax == kNoNode || convert->type != convert->arg->type ||
      !tree.is(convert->syntax, NodeKind::CallExpr))
    return nullptr;
  return findMovement(tree.text(CallExprView(tree, convert->syntax).callee()));
}

NodeId movementAxis(const Tree &tree, const Expr &expr) {
  return namedArgument(tree, expr.syntax, "by");
}

std::string_view movementLevel(const Tree &tree, const Expr &expr) {
  NodeId level = namedArgument(tree, expr.syntax, "over");
  return level == kNoNode ? std::string_view() : tree.text(level);
}

static std::string usageOf(const MovementRecord &record) {
  return std::string(record.name) + "(x, over: chip" + (record.takesBy ? ", by: D)" : ")");
}

/// Why a movement cannot stand here; empty if it can.
static std::string whyNotHere(Context &ctx) {
  if (!ctx.inProgram())
    return "movements stand in programs, since a `fn` and a kernel work on what one part has";
  if (!isPlaced(ctx.tree, ctx.decl->syntax))
    return "nothing moves in `" + ctx.decl->name + "`, whose header places no array";
  return {};
}

/// Whether the arguments are those of the record; reports otherwise.
static bool checkArguments(Context &ctx, NodeId node, const MovementRecord &record,
                           const std::vector<CallArgument> &args, NodeId &value) {
  auto fails = [&](Span span, std::string why) {
    ctx.sink.report(DiagId::BadMovement, span, {std::string(record.name), std::move(why)})
        .help("it is written `" + usageOf(record) + "`");
    return false;
  };
  NodeId level = kNoNode, axis = kNoNode;
  for (const CallArgument &arg : args) {
    NodeId *slot = arg.name.empty()                     ? &value
                   : arg.name == "over"                 ? &level
                   : arg.name == "by" && record.takesBy ? &axis
                                                        : nullptr;
    if (!slot || *slot != kNoNode || arg.isInout)
      return fails(arg.span, "`" + std::string(ctx.text(arg.node)) + "` is no argument of it");
    *slot = arg.value;
  }
  if (value == kNoNode || level == kNoNode || (record.takesBy && axis == kNoNode))
    return fails(ctx.span(node), value == kNoNode   ? "it needs what is to be moved"
                                 : level == kNoNode ? "it needs the level whose parts move, `over:`"
                                                    : "it needs the dimension to cut, `by:`");
  if (!ctx.tree.is(level, NodeKind::NameExpr))
    return fails(ctx.span(level), "`over:` takes the name of a level");
  checkLevelName(ctx, level);
  // Looked up for its own sake: what it names is used.
  return axis == kNoNode || resolveDim(ctx, axis).isKnown();
}

Expr *checkMovementCall(Context &ctx, NodeId node, std::string_view name,
                        const std::vector<CallArgument> &args) {
  const MovementRecord *record = findMovement(name);
  if (!record)
    return nullptr;
  NodeId value = kNoNode;
  bool isRight = checkArguments(ctx, node, *record, args, value);
  Expr *arg = value == kNoNode ? errorExpr(ctx, node) : checkExpr(ctx, value);
  if (std::string why = isRight ? whyNotHere(ctx) : ""; !why.empty()) {
    ctx.sink.report(DiagId::BadMovement, ctx.span(node), {std::string(name), why});
    isRight = false;
  }
  if (!isRight || isMissing(arg))
    return errorExpr(ctx, node);
  if (!arg->type->isArray() && !arg->type->isScalar()) {
    ctx.sink.report(DiagId::OperandNotAllowed, arg->span,
                    {std::string(name), "`" + toString(ctx.dims, *arg->type) + "`"});
    return errorExpr(ctx, node);
  }
  auto *move = newExpr<ConvertExpr>(ctx, node, arg->type);
  move->arg = arg;
  return move;
}

} // namespace ptl
