#include "frontend/sema/names/declare_local.h"

#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"

#include <algorithm>

namespace ptl {

std::string_view localKindName(LocalKind kind) {
  switch (kind) {
  case LocalKind::Param:
    return "parameter";
  case LocalKind::Output:
    return "output";
  case LocalKind::Let:
    return "`let`";
  case LocalKind::Var:
    return "`var`";
  case LocalKind::Loop:
    return "loop variable";
  case LocalKind::Tunable:
    return "tunable";
  case LocalKind::Dimension:
    return "dimension";
  case LocalKind::Const:
    return "constant";
  case LocalKind::Buffer:
    return "buffer";
  case LocalKind::Event:
    return "event";
  case LocalKind::Pipe:
    return "pipe";
  }
  return "name";
}

static bool mayBeShadowed(LocalKind kind) {
  return kind == LocalKind::Let || kind == LocalKind::Var || kind == LocalKind::Const;
}

static SymbolKind symbolKindOf(LocalKind kind) {
  switch (kind) {
  case LocalKind::Dimension:
    return SymbolKind::DimensionParam;
  case LocalKind::Tunable:
    return SymbolKind::Tunable;
  case LocalKind::Loop:
    return SymbolKind::LoopIndex;
  default:
    return SymbolKind::ScalarValue;
  }
}

/// Both are parts of a header: one name, one meaning.
static bool isHeaderClash(const Local &local, const Local &other) {
  auto inHeader = [](LocalKind kind) {
    return kind == LocalKind::Param || kind == LocalKind::Output || kind == LocalKind::Dimension ||
           kind == LocalKind::Tunable;
  };
  return inHeader(local.kind) && inHeader(other.kind);
}

/// Binds the name. One that has two meanings is a value of neither type: one mistake is reported
/// once; shapes keep the dimension.
static void bindName(Context &ctx, Local *local) {
  Local *hidden = ctx.scope.find(local->name);
  std::string hiddenKind(hidden ? localKindName(hidden->kind) : "");
  if (hidden && isHeaderClash(*local, *hidden)) {
    ctx.sink.report(DiagId::DuplicateName, local->span, {local->name, hiddenKind})
        .label(hidden->span, "first declared here");
    Local *either = ctx.program.make<Local>(*hidden);
    either->type = errorType(ctx);
    ctx.scope.bind(either);
    return;
  }
  ctx.scope.bind(local);
  if (hidden && !mayBeShadowed(hidden->kind))
    ctx.sink.report(DiagId::CannotShadow, local->span, {local->name, hiddenKind})
        .label(hidden->span, "the " + hiddenKind + " that it would hide")
        .help("choose another name: only a `let` or `var` may be hidden");
}

Local *declareLocal(Context &ctx, LocalKind kind, std::string_view name, Span span,
                    const Type *type, NodeId syntax, Dim dim, bool isInout) {
  Local *local = ctx.program.make<Local>();
  local->name = name;
  local->kind = kind;
  local->type = type;
  local->isInout = isInout;
  local->span = span;
  local->dim = dim;
  if (ctx.decl) {
    local->index = static_cast<uint32_t>(ctx.decl->locals.size());
    ctx.decl->locals.push_back(local);
  }
  bool changes = kind == LocalKind::Var || kind == LocalKind::Output || isInout;
  if (!dim && !changes && type && type->isInt()) {
    local->symbol = ctx.dims.addSymbol(local->name, symbolKindOf(kind), span);
    local->dim = ctx.dims.symbolDim(*local->symbol);
  }
  // A missing name was reported by the parser; nothing can refer to it.
  if (!name.empty() && name != "_")
    bindName(ctx, local);
  if (syntax != kNoNode && isRootModule(ctx))
    ctx.program.localOfNode[syntax] = local;
  if (kind == LocalKind::Let || kind == LocalKind::Var)
    declareLabel(ctx, name, LabelKind::Let, span);
  return local;
}

void declareLabel(Context &ctx, std::string_view name, LabelKind kind, Span span, bool isParallel) {
  if (!name.empty() && name != "_")
    ctx.scope.labels.push_back({std::string(name), kind, span, isParallel});
}

ScopeGuard::ScopeGuard(Context &ctx) : ctx_(ctx) { ctx_.scope.push(); }

/// Whether a parameter is needed for its shape, because no other parameter determines one of its
/// dimensions.
static bool bindsDimension(Context &ctx, const Local &param) {
  if (!ctx.decl || param.kind != LocalKind::Param || !param.type)
    return false;
  for (const DimParam &dim : ctx.decl->dims) {
    auto determines = [&](const Local &each) {
      return mentionsSymbol(each.type, [&](SymbolId symbol) { return symbol == dim.symbol; });
    };
    bool byOthers = false;
    for (const Local *other : ctx.decl->params)
      byOthers |= other != &param && determines(*other);
    if (!byOthers && determines(param))
      return true;
  }
  return false;
}

static void warnUnused(Context &ctx, const Local &local) {
  bool counts = local.kind == LocalKind::Let || local.kind == LocalKind::Var ||
                local.kind == LocalKind::Param || local.kind == LocalKind::Tunable ||
                local.kind == LocalKind::Loop;
  if (!counts || local.isInout || local.name.starts_with('_') || ctx.scope.isUsed(&local))
    return;
  if ((local.type && local.type->isError()) || bindsDimension(ctx, local))
    return;
  ctx.sink
      .report(DiagId::UnusedLocal, local.span, {std::string(localKindName(local.kind)), local.name})
      .fix(FixId::UnusedName, "name it `_" + local.name + "` if that is meant",
           {{Span{local.span.file, local.span.begin, local.span.begin}, "_"}});
}

void leaveScope(Context &ctx) {
  bool warns = isRootModule(ctx) && !ctx.suppressUnused && !(ctx.decl && ctx.decl->hasErrors) &&
               ctx.sink.errorCount() == ctx.errorsBefore;
  for (const Local *local : ctx.scope.pop())
    if (warns)
      warnUnused(ctx, *local);
}

ScopeGuard::~ScopeGuard() { leaveScope(ctx_); }

} // namespace ptl
