// The block level: pipes, sections, buffers, events and instructions. Names and types resolve here;
// order, hazards and capacity are for whoever executes the block level.
#include "frontend/sema/check_expr.h"

namespace ptl {

namespace {
struct BlockCall {
  std::string_view name;
  int least, greatest;
};
} // namespace

static constexpr BlockCall blockCalls[] = {
#define BLOCK_CALL(NAME, LEAST, GREATEST) {#NAME, LEAST, GREATEST},
#include "frontend/sema/block_calls.def"
};

static void markBlockLevel(Context &ctx) {
  if (ctx.decl)
    ctx.decl->isBlockLevel = true;
}

static const Type *handleType(Context &ctx, TypeKind kind, const Type *held) {
  Type *type = copyType(ctx, held ? *held : *errorType(ctx));
  type->kind = kind;
  if (held)
    type->elements = {held};
  return type;
}

// ---- Statements
// ------------------------------------------------------------------------------------------

static Stmt *emptyBlock(Context &ctx, NodeId node) {
  auto *stmt = newStmt<BlockStmt>(ctx, StmtKind::Block, node);
  stmt->block = ctx.program.make<Block>();
  stmt->block->span = stmt->span;
  return stmt;
}

static Stmt *checkPipe(Context &ctx, NodeId node) {
  PipeStmtView view(ctx.tree, node);
  const Type *type = resolveType(ctx, view.type());
  if (view.depth() != kNoNode)
    checkIntScalar(ctx, view.depth(), "the depth of a pipe");
  declareLocal(ctx, LocalKind::Pipe, ctx.text(view.name()), ctx.span(view.name()),
               handleType(ctx, TypeKind::Pipe, type), view.name());
  return emptyBlock(ctx, node);
}

static Stmt *checkBuffer(Context &ctx, NodeId node) {
  BufferStmtView view(ctx.tree, node);
  for (NodeId number : {view.count(), view.address()})
    if (number != kNoNode)
      checkIntScalar(ctx, number, "a number");
  const Type *type = resolveType(ctx, view.type());
  declareLocal(ctx, LocalKind::Buffer, ctx.text(view.name()), ctx.span(view.name()),
               handleType(ctx, TypeKind::Buffer, type), view.name());
  return emptyBlock(ctx, node);
}

static Stmt *checkEvent(Context &ctx, NodeId node) {
  EventStmtView view(ctx.tree, node);
  for (NodeId number : {view.count(), view.number()})
    if (number != kNoNode)
      checkIntScalar(ctx, number, "a number");
  declareLocal(ctx, LocalKind::Event, ctx.text(view.name()), ctx.span(view.name()),
               handleType(ctx, TypeKind::Event, nullptr), view.name());
  return emptyBlock(ctx, node);
}

static Stmt *checkSection(Context &ctx, NodeId node) {
  OnStmtView view(ctx.tree, node);
  auto *stmt = newStmt<OnStmt>(ctx, StmtKind::OnSection, node);
  checkCoreName(ctx, view.core());
  stmt->core = ctx.text(view.core());
  stmt->splitRows = view.split() != kNoNode;
  bool wasInSection = ctx.inSection;
  ctx.inSection = true;
  stmt->body = checkBlock(ctx, view.body(), false);
  ctx.inSection = wasInSection;
  return stmt;
}

Stmt *checkBlockLevelStmt(Context &ctx, NodeId node) {
  markBlockLevel(ctx);
  if (!ctx.inKernel())
    ctx.sink.report(DiagId::StatementNotHere, ctx.span(node),
                    {"`" + std::string(ctx.tree.mainText(node)) + "`", declKindText(ctx)});
  switch (ctx.tree.kind(node)) {
  case NodeKind::PipeStmt:
    return checkPipe(ctx, node);
  case NodeKind::BufferStmt:
    return checkBuffer(ctx, node);
  case NodeKind::EventStmt:
    return checkEvent(ctx, node);
  default:
    return checkSection(ctx, node);
  }
}

// ---- Calls
// -----------------------------------------------------------------------------------------------

static const BlockCall *findBlockCall(std::string_view name) {
  for (const BlockCall &call : blockCalls)
    if (call.name == name)
      return &call;
  return nullptr;
}

/// `pop(p)` has the type that its `let` says, else the pipe's capacity.
static const Type *popType(Context &ctx, const Expr *pipe, const Type *expected) {
  if (expected)
    return expected;
  const Type *type = pipe->type;
  return type->kind == TypeKind::Pipe && !type->elements.empty() ? type->elements.front()
                                                                 : errorType(ctx);
}

Expr *checkBlockCall(Context &ctx, NodeId node, std::string_view name,
                     const std::vector<CallArgument> &args, const Type *expected) {
  const BlockCall *call = findBlockCall(name);
  if (!call)
    return nullptr;
  markBlockLevel(ctx);
  bool isBarrier = name == "barrier"; // its argument names a pipe of the core
  std::vector<Expr *> values;
  for (const CallArgument &arg : args)
    if (!isBarrier && arg.name.empty() && !ctx.tree.is(arg.value, NodeKind::DotName))
      values.push_back(checkBase(ctx, arg.value));
  int count = static_cast<int>(args.size());
  if (count < call->least || (call->greatest >= 0 && count > call->greatest))
    ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(node),
                    {std::string(name),
                     std::to_string(call->least) + (call->least == 1 ? " argument" : " arguments"),
                     std::to_string(count)});
  // There is no record for it: declarations at block level are not executed from the checked tree.
  Expr *expr = newExpr<Expr>(ctx, ExprKind::Error, node, voidType(ctx));
  if (name == "pop" && !values.empty())
    expr->type = popType(ctx, values.front(), expected);
  else if (name == "allreduce" || name == "allgather" || name == "reducescatter" || name == "get")
    expr->type = errorType(ctx);
  return expr;
}

} // namespace ptl
