#include "frontend/sema/placement/section_call.h"

#include "common/read_number.h"
#include "frontend/sema/block/check_block_level.h"
#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/statements/check_loop.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

// ---- Pipes --------------------------------------------------------------------------------------

static const Type *pipeType(Context &ctx, NodeId node) {
  const Type *type = resolveType(ctx, node);
  bool carries =
      type->isError() || (type->isArray() && !type->prefix) || (type->isScalar() && !type->isInt());
  if (carries)
    return type;
  ctx.sink.report(DiagId::PipeEnds, ctx.span(node),
                  {"`" + toString(ctx, type) + "`",
                   "a pipe carries arrays, or numbers of a fixed element type"});
  return errorType(ctx);
}

Stmt *checkPartPipe(Context &ctx, NodeId node) {
  PipeStmtView view(ctx.tree, node);
  auto *stmt = newStmt<BlockDeclStmt>(ctx, node);
  auto *object = ctx.program.make<BlockObject>();
  if (view.count() != kNoNode)
    object->count = checkIntScalar(ctx, view.count(), "the number of pipes")->dim;
  object->depth = checkStaticNumber(ctx, view.depth(), "the depth of a pipe", 1);
  object->carried = pipeType(ctx, view.type());
  const Type *type = object->carried;
  if (!type->isError()) {
    Type *pipe = copyType(ctx, *type);
    pipe->kind = TypeKind::Pipe;
    type = pipe;
  }
  stmt->local = declareLocal(ctx, LocalKind::Pipe, ctx.text(view.name()), ctx.span(view.name()),
                             type, view.name());
  stmt->local->object = object;
  ctx.partSections.pipes.push_back(stmt);
  return stmt;
}

// ---- Sections -----------------------------------------------------------------------------------

/// Why a section cannot stand at this place; empty if it can.
static std::string whyNotHere(Context &ctx, const OnStmtView &view) {
  std::string level(ctx.text(view.core()));
  if (view.part() == kNoNode)
    return "in a program a section must name its part, as in `on chip 0 { … }`";
  if (ctx.inSection)
    return "it is inside another section, and each section is for one part";
  if (!isPlaced(ctx.tree, ctx.decl->syntax))
    return "the header of `" + ctx.decl->name + "` places no array over `" + level + "`";
  return {};
}

static uint32_t partNumber(Context &ctx, NodeId node) {
  std::string_view text = ctx.text(node);
  // The parser has reported what is no number.
  if (!ctx.tree.is(node, NodeKind::IntLiteral))
    return 0;
  std::optional<uint32_t> part = integerIn<uint32_t>(text);
  if (!part)
    ctx.sink.report(DiagId::SectionNotHere, ctx.span(node),
                    {"`" + std::string(text) + "` is not the number of a part"});
  return part.value_or(0);
}

/// The condition that a header needs so that there is a stage.
static std::string someStage(Context &ctx, const RangeExpr &range) {
  return ctx.dims.toString(range.hi->dim) + " > " + ctx.dims.toString(range.lo->dim);
}

/// Checks `s in 0..S`: there is at least one stage, and each has a part.
static LoopHead checkStages(Context &ctx, NodeId node) {
  FactSet outside = ctx.facts; // Inside, the facts say that there is a stage.
  LoopHead head = checkLoopBinding(ctx, node);
  const auto *range = dyn_cast<RangeExpr>(head.iterable);
  bool isRight = range && head.var->symbol && range->lo->dim && range->hi->dim &&
                 (!range->step || range->step->dim.isConstant(1)) &&
                 outside.proveLessEqual(ctx.dims.constant(0), range->lo->dim).isTrue();
  if (head.iterable->type->isError()) {
    head.var = nullptr;
  } else if (!isRight) {
    ctx.sink.report(
        DiagId::SectionNotHere, ctx.span(node),
        {"both ends of the range of stages must be sizes, as in `on chip s in 0..S { … }`"});
    head.var = nullptr;
  } else if (!outside.proveLess(range->lo->dim, range->hi->dim).isTrue()) {
    ctx.sink.report(DiagId::SectionNotHere, range->hi->span, {"there may be no stage at all"})
        .help("require at least one in the header: `where " + someStage(ctx, *range) + "`");
  }
  return head;
}

Stmt *checkPartSection(Context &ctx, NodeId node) {
  OnStmtView view(ctx.tree, node);
  auto *stmt = newStmt<OnStmt>(ctx, node);
  stmt->core = ctx.text(view.core());
  ScopeGuard scope(ctx);
  // Facts about a stage end with its section.
  FactSet before = ctx.facts;
  bool isForMany = view.part() != kNoNode && ctx.tree.is(view.part(), NodeKind::LoopBinding);
  if (std::string why = whyNotHere(ctx, view); !why.empty()) {
    ctx.sink.report(DiagId::SectionNotHere, ctx.span(view.core()), {why});
  } else {
    checkLevelName(ctx, view.core());
    ctx.partSections.sections.push_back(stmt);
  }
  if (isForMany)
    stmt->stages = checkStages(ctx, view.part());
  else if (view.part() != kNoNode)
    stmt->part = partNumber(ctx, view.part());
  bool wasInSection = std::exchange(ctx.inSection, true);
  stmt->body = checkBlock(ctx, view.body(), false);
  ctx.inSection = wasInSection;
  ctx.facts = before;
  return stmt;
}

// ---- What goes through --------------------------------------------------------------------------

/// A pipe, or one of an array of pipes.
struct NamedPipe {
  Local *local = nullptr; ///< null after a report
  std::vector<Dim> number = {};
};

static NamedPipe namedPipe(Context &ctx, NodeId node, std::string_view call) {
  bool isOne = ctx.tree.is(node, NodeKind::IndexExpr);
  IndexExprView view(ctx.tree, node);
  Expr *pipe = checkBase(ctx, isOne ? view.base() : node);
  Expr *number = isOne && view.indices().size() == 1
                     ? checkIntScalar(ctx, view.indices()[0], "the number of a pipe")
                     : nullptr;
  const auto *named = isMissing(pipe) ? nullptr : dyn_cast<LocalRefExpr>(pipe);
  if (!named || named->local->kind != LocalKind::Pipe) {
    if (!isMissing(pipe))
      ctx.sink.report(DiagId::WrongOperand, pipe->span,
                      {std::string(call), "1", "`" + toString(ctx, pipe->type) + "`", "a pipe"});
    return {};
  }
  Dim count = named->local->object->count;
  std::string why;
  if (isOne != static_cast<bool>(count))
    why = isOne ? "it is a single pipe, which has no index"
                : "it is an array of pipes: choose one of them, `" + named->local->name + "[0]`";
  else if (isOne && (isMissing(number) || !number->dim))
    why = "the index of a pipe must be a size or the variable of stages";
  else if (isOne && (!ctx.facts.proveLess(number->dim, count).isTrue() ||
                     !ctx.facts.proveLessEqual(ctx.dims.constant(0), number->dim).isTrue()))
    why = "there are `" + ctx.dims.toString(count) + "` of them, and `" +
          ctx.dims.toString(number->dim) + "` may not be one of their indices";
  if (!why.empty()) {
    ctx.sink.report(DiagId::PipeEnds, ctx.span(node), {"`" + named->local->name + "`", why});
    return {};
  }
  return {named->local, isOne ? std::vector<Dim>{number->dim} : std::vector<Dim>()};
}

Expr *checkPartCall(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args) {
  bool isPush = name == "push";
  size_t wanted = isPush ? 2 : 1;
  if (args.size() != wanted) {
    ctx.sink.report(
        DiagId::WrongArgumentCount, ctx.span(node),
        {std::string(name), isPush ? "2 arguments" : "1 argument", std::to_string(args.size())});
    return errorExpr(ctx, node);
  }
  for (const CallArgument &arg : args)
    if (arg.value == kNoNode || !arg.name.empty()) {
      if (!arg.name.empty())
        ctx.sink.report(DiagId::UnknownArgument, arg.span,
                        {std::string(name), std::string(arg.name)});
      return errorExpr(ctx, node);
    }
  NamedPipe pipe = namedPipe(ctx, args[0].value, name);
  const Type *carried = pipe.local ? pipe.local->object->carried : errorType(ctx);
  Expr *pushed = isPush ? checkExpr(ctx, args[1].value, carried) : nullptr;
  if (carried->isError() || (isPush && isMissing(pushed)))
    return errorExpr(ctx, node);
  if (!ctx.inSection) {
    ctx.sink.report(DiagId::PipeEnds, ctx.span(node),
                    {"`" + pipe.local->name + "`",
                     "a pipe connects sections, and `" + std::string(name) + "` is in none"});
    return errorExpr(ctx, node);
  }
  auto *call = newExpr<BlockExpr>(ctx, node, isPush ? voidType(ctx) : carried);
  call->op = isPush ? BlockOp::Push : BlockOp::Pop;
  call->object = pipe.local;
  call->offsets = pipe.number;
  if (isPush)
    call->ins = {convertTo(ctx, pushed, carried, "what is pushed")};
  ctx.partSections.calls.push_back(call);
  return call;
}

} // namespace ptl
