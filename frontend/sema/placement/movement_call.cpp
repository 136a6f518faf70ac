#include "frontend/sema/placement/movement_call.h"

#include "common/read_number.h"
#include "frontend/sema/calls/check_callable.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/types/resolve_dim.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

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

/// The name of a callee, `dispatch` also of `experts.dispatch`.
static std::string_view calleeName(const Tree &tree, NodeId call) {
  NodeId callee = CallExprView(tree, call).callee();
  return tree.text(tree.is(callee, NodeKind::MemberExpr) ? MemberExprView(tree, callee).name()
                                                         : callee);
}

/// The movement of that name, or null. A `broadcast` without a level repeats an array, and
/// `dispatch` without one is a plain function: neither moves data.
static const MovementRecord *findMovementCall(std::string_view name, bool namesLevel) {
  const MovementRecord *record = findMovement(name);
  bool isElse =
      record && (record->id == MovementId::Broadcast || record->takes == MovementTakes::Rows);
  return isElse && !namesLevel ? nullptr : record;
}

const MovementRecord *movementOf(const Tree &tree, const Expr &expr) {
  // The checked tree has a movement as a conversion to the same type, which changes no value: whoever knows of no parts executes
  // the program as it is.
  const auto *convert = dyn_cast<ConvertExpr>(&expr);
  if (!convert || convert->syntax == kNoNode || convert->type != convert->arg->type ||
      !tree.is(convert->syntax, NodeKind::CallExpr))
    return nullptr;
  return findMovementCall(calleeName(tree, convert->syntax),
                          namedArgument(tree, convert->syntax, "over") != kNoNode);
}

/// The elements of a list, `[host, chip]`; a single node for anything else.
static std::vector<NodeId> listed(const Tree &tree, NodeId node) {
  if (node == kNoNode)
    return {};
  if (!tree.is(node, NodeKind::ListExpr))
    return {node};
  auto elements = tree.children(node);
  return std::vector<NodeId>(elements.begin(), elements.end());
}

std::vector<NodeId> movementLevels(const Tree &tree, const Expr &expr) {
  return listed(tree, namedArgument(tree, expr.syntax, "over"));
}

std::vector<NodeId> movementAxes(const Tree &tree, const Expr &expr) {
  return listed(tree, namedArgument(tree, expr.syntax, "by"));
}

static std::optional<int64_t> numberAt(const Tree &tree, NodeId node) {
  return node == kNoNode ? std::nullopt : integerIn(tree.text(node));
}

std::string_view movementAlgorithm(const Tree &tree, const Expr &expr) {
  NodeId how = namedArgument(tree, expr.syntax, "how");
  return how == kNoNode ? std::string_view() : tree.text(how);
}

std::optional<int64_t> movementNumber(const Tree &tree, const Expr &expr) {
  NodeId to = namedArgument(tree, expr.syntax, "to");
  return numberAt(tree, to == kNoNode ? namedArgument(tree, expr.syntax, "by") : to);
}

static std::string usageOf(const MovementRecord &record) {
  constexpr std::string_view behind[] = {"over: chip)",
                                         "over: chip, by: D)",
                                         "over: chip, by: 1)",
                                         "over: chip, to: 1)",
                                         "over: [host, chip], by: [B, D])",
                                         "…, over: chip)"};
  return std::string(record.name) + "(x, " + std::string(behind[static_cast<size_t>(record.takes)]);
}

/// Why a movement cannot stand at this place; empty if it can.
static std::string whyNotHere(Context &ctx) {
  if (!ctx.inProgram())
    return "movements are allowed in programs only, because a `fn` or a kernel works on the data "
           "of one part";
  if (!isPlaced(ctx.tree, ctx.decl->syntax))
    return "nothing moves in `" + ctx.decl->name +
           "`, whose header places no array: it has to say over which parts the program runs, as "
           "in `x: f32[B] over chip by B` or `y: f32[B] at chip 0`";
  return {};
}

/// The arguments of a call by their names.
struct MovementArguments {
  NodeId value = kNoNode, over = kNoNode, by = kNoNode, to = kNoNode, how = kNoNode;
};

/// What is missing or wrong in the arguments beside the level; empty if nothing is.
static std::string wrongTarget(Context &ctx, const MovementRecord &record,
                               const MovementArguments &args) {
  switch (record.takes) {
  case MovementTakes::Nothing:
    return {};
  case MovementTakes::Axis:
    return args.by == kNoNode ? "it needs the dimension to cut, `by:`" : "";
  case MovementTakes::Distance:
    return args.by == kNoNode ? "it needs `by:`, by how many positions the elements move" : "";
  case MovementTakes::Part: {
    std::optional<int64_t> part = numberAt(ctx.tree, args.to);
    return part && *part >= 0 && *part < INT32_MAX
               ? ""
               : "it needs the number of the part that gets the array, `to:`";
  }
  case MovementTakes::Axes:
    return listed(ctx.tree, args.by).size() == listed(ctx.tree, args.over).size()
               ? ""
               : "it needs one dimension for each level, `by:`";
  case MovementTakes::Rows:
    return "it is a function of the library; write `import std.experts: dispatch, combine`";
  }
  __builtin_unreachable();
}

bool isAlgorithmOf(const MovementRecord &record, std::string_view name) {
  std::string_view words = record.algorithms;
  for (size_t begin = 0; begin < words.size();) {
    size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == name)
      return true;
    begin = end + 1;
  }
  return false;
}

/// What is wrong with the algorithm that a call names; empty if it names none, or one of the
/// record's.
static std::string wrongAlgorithm(Context &ctx, const MovementRecord &record, NodeId how) {
  if (how == kNoNode || isAlgorithmOf(record, ctx.text(how)))
    return {};
  return "`how:` takes one of its algorithms: " + std::string(record.algorithms);
}

/// Checks that `over:` has names of levels; reports otherwise.
static bool checkLevels(Context &ctx, const MovementRecord &record, NodeId over,
                        const std::vector<NodeId> &levels) {
  for (NodeId level : levels) {
    if (!ctx.tree.is(level, NodeKind::NameExpr)) {
      ctx.sink.report(DiagId::BadMovement, ctx.span(level),
                      {std::string(record.name), "`over:` takes the names of levels"});
      return false;
    }
    checkLevelName(ctx, level);
  }
  // Only of a `reshard` that has a meaning: the array is the same on all parts afterwards.
  bool isRight = !levels.empty() || record.takes == MovementTakes::Axes;
  if (!isRight)
    ctx.sink.report(DiagId::BadMovement, ctx.span(over),
                    {std::string(record.name), "`over:` names no level"});
  return isRight;
}

/// Checks that the arguments are those of the record; reports otherwise.
static bool checkArguments(Context &ctx, NodeId node, const MovementRecord &record,
                           const std::vector<CallArgument> &args, NodeId &value) {
  auto fails = [&](Span span, std::string why) {
    ctx.sink.report(DiagId::BadMovement, span, {std::string(record.name), std::move(why)})
        .help("write it as `" + usageOf(record) + "`");
    return false;
  };
  bool takesBy = record.takes != MovementTakes::Nothing && record.takes != MovementTakes::Part;
  MovementArguments named;
  for (const CallArgument &arg : args) {
    NodeId *slot = arg.name.empty()                                          ? &named.value
                   : arg.name == "over"                                      ? &named.over
                   : arg.name == "how"                                       ? &named.how
                   : arg.name == "by" && takesBy                             ? &named.by
                   : arg.name == "to" && record.takes == MovementTakes::Part ? &named.to
                                                                             : nullptr;
    if (!slot || *slot != kNoNode || arg.isInout)
      return fails(arg.span,
                   "`" + std::string(ctx.text(arg.node)) + "` is not one of its arguments");
    *slot = arg.value;
  }
  value = named.value;
  if (value == kNoNode || named.over == kNoNode)
    return fails(ctx.span(node),
                 value == kNoNode ? "it needs the array to move"
                                  : "it needs the level whose parts exchange the array, `over:`");
  if (std::string why = wrongTarget(ctx, record, named); !why.empty())
    return fails(ctx.span(node), why);
  if (std::string why = wrongAlgorithm(ctx, record, named.how); !why.empty())
    return fails(ctx.span(named.how), why);
  // A shift moves along one axis, which several levels may cut.
  bool isOne = record.takes != MovementTakes::Axes;
  bool isOneLevel = isOne && record.takes != MovementTakes::Distance;
  if (!checkLevels(ctx, record, named.over,
                   isOneLevel ? std::vector{named.over} : listed(ctx.tree, named.over)))
    return false;
  if (record.takes != MovementTakes::Axis && isOne)
    return true;
  // The axes are resolved here so that the names they use count as used.
  bool isRight = true;
  for (NodeId axis : isOne ? std::vector{named.by} : listed(ctx.tree, named.by))
    isRight &= resolveDim(ctx, axis).isKnown();
  return isRight;
}

Expr *checkRowsCall(Context &ctx, NodeId node, const CallableDecl &callee,
                    const std::vector<CallArgument> &args) {
  const MovementRecord *record = findMovement(callee.name);
  bool isLibrary =
      callee.module->name == "experts" && callee.module != ctx.program.modules[0].get();
  if (!record || record->takes != MovementTakes::Rows || !isLibrary)
    return nullptr;
  // The function of the library has neither `over:` nor `how:`; without them the call is checked as any other.
  std::vector<CallArgument> rest;
  NodeId over = kNoNode, how = kNoNode;
  for (const CallArgument &arg : args)
    if (arg.name == "over" && over == kNoNode)
      over = arg.value;
    else if (arg.name == "how" && how == kNoNode)
      how = arg.value;
    else
      rest.push_back(arg);
  // Without a level it is the plain function, which computes on one part what the movement does on many.
  if (over == kNoNode)
    return nullptr;
  bool isRight = checkLevels(ctx, *record, over, listed(ctx.tree, over));
  if (std::string why = wrongAlgorithm(ctx, *record, how); !why.empty()) {
    ctx.sink.report(DiagId::BadMovement, ctx.span(how), {std::string(record->name), why});
    isRight = false;
  }
  Expr *call = checkCallable(ctx, node, callee, rest);
  if (std::string why = isRight ? whyNotHere(ctx) : ""; !why.empty()) {
    ctx.sink.report(DiagId::BadMovement, ctx.span(node), {std::string(record->name), why});
    isRight = false;
  }
  if (!isRight || isMissing(call))
    return errorExpr(ctx, node);
  auto *move = newExpr<ConvertExpr>(ctx, node, call->type);
  move->arg = call;
  return move;
}

bool isSubmit(const Tree &tree, const Expr &expr) {
  const auto *convert = dyn_cast<ConvertExpr>(&expr);
  return convert && convert->syntax != kNoNode && convert->type == convert->arg->type &&
         tree.is(convert->syntax, NodeKind::CallExpr) &&
         calleeName(tree, convert->syntax) == "submit" &&
         namedArgument(tree, convert->syntax, "over") != kNoNode;
}

/// Whether one part can compute a call by itself.
static bool canBeTask(Context &ctx, const CallableDecl &callee) {
  bool isWorker = callee.kind == DeclKind::Program && callee.role == "worker" &&
                  callee.module->tree && !isPlaced(*callee.module->tree, callee.syntax);
  return callee.kind == DeclKind::Fn || (isWorker && &callee != ctx.decl);
}

Expr *checkSubmit(Context &ctx, NodeId node, std::string_view name,
                  const std::vector<CallArgument> &args) {
  if (name != "submit")
    return nullptr;
  auto refuse = [&](Span span, std::string why) {
    ctx.sink.report(DiagId::BadMovement, span, {"submit", std::move(why)})
        .help("it is written `submit(f(x), over: chip)`");
    return errorExpr(ctx, node);
  };
  NodeId task = kNoNode, over = kNoNode;
  for (const CallArgument &arg : args) {
    NodeId *slot = arg.name.empty() ? &task : arg.name == "over" ? &over : nullptr;
    if (!slot || *slot != kNoNode || arg.isInout)
      return refuse(arg.span,
                    "`" + std::string(ctx.text(arg.node)) + "` is not one of its arguments");
    *slot = arg.value;
  }
  Expr *call = task == kNoNode ? errorExpr(ctx, node) : checkExpr(ctx, task);
  if (task == kNoNode || over == kNoNode)
    return refuse(ctx.span(node),
                  task == kNoNode
                      ? "it needs the call that is to be computed, as in `submit(f(x), over: chip)`"
                      : "it needs the level of the part that computes it, as in `over: chip`");
  if (!ctx.tree.is(over, NodeKind::NameExpr))
    return refuse(ctx.span(over), "`over:` takes the name of a level");
  checkLevelName(ctx, over);
  if (isMissing(call))
    return errorExpr(ctx, node);
  if (!isa<CallExpr>(*call) || !canBeTask(ctx, *cast<CallExpr>(call)->callee))
    return refuse(ctx.span(task),
                  "its first argument must be a call of a `fn`, or of a program that is "
                  "`at chip as worker`");
  if (!call->type->isArray() && !call->type->isScalar())
    return refuse(ctx.span(task), "a task must have one array or one scalar as its result");
  std::string why = whyNotHere(ctx);
  if (why.empty() && ctx.inSection)
    why = "it is in a section, which one part runs already";
  if (!why.empty()) {
    ctx.sink.report(DiagId::BadMovement, ctx.span(node), {"submit", why});
    return errorExpr(ctx, node);
  }
  auto *made = newExpr<ConvertExpr>(ctx, node, call->type);
  made->arg = call;
  return made;
}

Expr *checkMovementCall(Context &ctx, NodeId node, std::string_view name,
                        const std::vector<CallArgument> &args) {
  const MovementRecord *record = findMovementCall(
      name, std::ranges::any_of(args, [](const CallArgument &arg) { return arg.name == "over"; }));
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
  if (record->takes == MovementTakes::Distance) {
    move->shift = ctx.program.make<ShiftUse>();
    // A number that is no dimension, such as `2**k`, is bound in front of the statement.
    move->shift->by = dimOrHoist(
        ctx, checkIntScalar(ctx, namedArgument(ctx.tree, node, "by"), "the distance of a `shift`"));
    if (!move->shift->by)
      return errorExpr(ctx, node);
  }
  return move;
}

} // namespace ptl
