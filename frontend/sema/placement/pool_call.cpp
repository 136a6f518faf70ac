#include "frontend/sema/placement/pool_call.h"

#include "frontend/sema/calls/check_op_call.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/placement/placement.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/syntax/typed_nodes.h"

namespace ptl {

const PoolUse *poolUseOf(const Expr *expr) {
  const auto *convert = expr ? dyn_cast<ConvertExpr>(expr) : nullptr;
  return convert ? convert->pool : nullptr;
}

/// What a `let` made a pool; null for other locals.
static const ConvertExpr *poolOf(Context &ctx, const Local *local) {
  auto made = ctx.letValues.find(local);
  const PoolUse *use = made == ctx.letValues.end() ? nullptr : poolUseOf(made->second);
  return use && use->kind == PoolUse::Kind::Make ? cast<ConvertExpr>(made->second) : nullptr;
}

static Expr *refuse(Context &ctx, NodeId node, std::string_view what, std::string why) {
  ctx.sink.report(DiagId::PoolMisused, ctx.span(node), {std::string(what), std::move(why)})
      .help("use a page as in `if p < find(kv, rows) { kv[p] } else { keep(kv, page) }`");
  return errorExpr(ctx, node);
}

static Expr *makeUse(Context &ctx, NodeId node, Expr *arg, PoolUse use) {
  auto *expr = newExpr<ConvertExpr>(ctx, node, arg->type);
  expr->arg = arg;
  expr->pool = ctx.program.make<PoolUse>(use);
  return expr;
}

/// `over: host`, of a pool.
static bool checkOver(Context &ctx, const CallArgument &arg, PoolUse &use) {
  bool isName = arg.value != kNoNode && ctx.tree.is(arg.value, NodeKind::NameExpr);
  if (isName && use.over == kNoNode) {
    checkLevelName(ctx, arg.value);
    use.over = arg.value;
    return true;
  }
  refuse(ctx, arg.value == kNoNode ? arg.node : arg.value, "`pool`",
         "its `over` is the name of one level, whose parts have one memory");
  return false;
}

/// `pool(f32[2, P, D], memory: 1GiB, over: host, disk: 64GiB)`.
static Expr *checkMake(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  PoolUse use;
  std::vector<CallArgument> page;
  for (const CallArgument &arg : args) {
    if (arg.name == "over") {
      if (!checkOver(ctx, arg, use))
        return errorExpr(ctx, node);
      continue;
    }
    uint64_t *size = arg.name == "memory" ? &use.memory : arg.name == "disk" ? &use.disk : nullptr;
    if (!size) {
      page.push_back(arg);
      continue;
    }
    std::optional<int64_t> bytes = requireConstInt(ctx, arg.value, "the size of a pool");
    if (bytes && *bytes < 1)
      return refuse(ctx, arg.value, "`pool`",
                    "its `" + std::string(arg.name) + "` must be a number of bytes of at least 1");
    *size = static_cast<uint64_t>(bytes.value_or(1));
  }
  if (page.size() != 1 || !page[0].name.empty())
    return refuse(ctx, node, "`pool`",
                  "it needs the type of a page, as in `pool(f32[P, D], disk: 1GiB)`");
  if (use.memory == 0 && use.disk == 0)
    return refuse(ctx, node, "`pool`", "it needs space for pages, `memory: 1GiB` or `disk: 64GiB`");
  if (use.over != kNoNode && use.memory == 0)
    return refuse(ctx, use.over, "`pool`",
                  "`over` joins the memories of several parts, and the pool has no `memory`");
  if (!ctx.inProgram() || !isPlaced(ctx.tree, ctx.decl->syntax))
    return refuse(ctx, node, "`pool`",
                  "pools are allowed only in programs whose header places arrays");
  Expr *zeros = checkOpCall(ctx, node, "zeros", page, nullptr);
  if (isMissing(zeros))
    return errorExpr(ctx, node);
  return makeUse(ctx, node, zeros, use);
}

static Expr *checkFind(Context &ctx, NodeId node, Local *pool, const CallArgument &rows) {
  Expr *with = checkExpr(ctx, rows.value);
  if (isMissing(with))
    return errorExpr(ctx, node);
  if (!with->type->isArray() || with->type->prefix || with->type->extents.empty())
    return refuse(ctx, rows.value, "`find`",
                  "its rows must be an array with one row for each page on its first axis");
  auto *none = newExpr<ConstExpr>(ctx, node, scalarType(ctx, Elem{ElemKind::Int}));
  return makeUse(ctx, node, none, {PoolUse::Kind::Find, pool, with});
}

static Expr *checkKeep(Context &ctx, NodeId node, Local *pool, const ConvertExpr &made,
                       const CallArgument &page) {
  Expr *kept = checkExpr(ctx, page.value);
  kept = isMissing(kept) ? kept : convertTo(ctx, kept, made.type, "a page of this pool");
  if (isMissing(kept))
    return errorExpr(ctx, node);
  return makeUse(ctx, node, kept, {PoolUse::Kind::Keep, pool});
}

Expr *checkPoolCall(Context &ctx, NodeId node, std::string_view name,
                    const std::vector<CallArgument> &args) {
  if (name == "pool")
    return checkMake(ctx, node, args);
  bool isName = (name == "find" || name == "keep") && !args.empty() && args[0].name.empty() &&
                ctx.tree.is(args[0].value, NodeKind::NameExpr);
  Local *pool = isName ? lookupValue(ctx, ctx.text(args[0].value)).local : nullptr;
  const ConvertExpr *made = pool ? poolOf(ctx, pool) : nullptr;
  if (!made)
    return nullptr;
  checkBase(ctx, args[0].value); // Editors ask what the name is.
  if (args.size() != 2 || !args[1].name.empty() || args[1].value == kNoNode)
    return refuse(ctx, node, "`" + std::string(name) + "`",
                  name == "find" ? "it takes a pool and an array with a row for each page"
                                 : "it takes a pool and a page");
  return name == "find" ? checkFind(ctx, node, pool, args[1])
                        : checkKeep(ctx, node, pool, *made, args[1]);
}

Expr *checkPoolPage(Context &ctx, NodeId node, const Expr *base, std::span<const NodeId> indices) {
  const auto *name = dyn_cast<LocalRefExpr>(base);
  const ConvertExpr *made = name ? poolOf(ctx, name->local) : nullptr;
  if (!made)
    return nullptr;
  Expr *position =
      indices.size() == 1 ? checkIntScalar(ctx, indices[0], "the number of a page") : nullptr;
  if (!position)
    return refuse(ctx, node, "`" + name->local->name + "`",
                  "index a pool with the number of one page, `kv[p]`");
  if (isMissing(position))
    return errorExpr(ctx, node);
  return makeUse(ctx, node, made->arg, {PoolUse::Kind::Page, name->local, position});
}

} // namespace ptl
