#include "frontend/sema/block/check_block_level.h"

#include "frontend/sema/block/block_machine.h"
#include "frontend/sema/block/check_block_tile.h"
#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/placement/section_call.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

// ---- What is shared -----------------------------------------------------------------------------

std::string coreHere(Context &ctx) {
  // The innermost section decides, then the header of the kernel.
  if (!ctx.sectionCore.empty())
    return ctx.sectionCore;
  return ctx.decl ? ctx.decl->core : "";
}

std::string_view coreOfPlace(Place place) { return place == Place::Vec ? "aiv" : "aic"; }

void requireCore(Context &ctx, Span span, std::string_view name, std::string_view core) {
  std::string here = coreHere(ctx);
  // Outside of manual kernels the compiler chooses the cores.
  if (here == core || !ctx.isKind(DeclKind::ManualKernel))
    return;
  if (here.empty()) {
    ctx.sink.report(DiagId::CoreNotSaid, span, {std::string(name), std::string(core)})
        .help("put it into a section `on " + std::string(core) + " { … }`, or write `on " +
              std::string(core) + "` in the header when all of the kernel runs there");
    return;
  }
  ctx.sink.report(DiagId::WrongCore, span, {std::string(name), std::string(core), here});
}

Dim checkStaticNumber(Context &ctx, NodeId node, std::string_view what, int64_t least) {
  if (node == kNoNode)
    return Dim();
  Expr *number = checkIntScalar(ctx, node, what);
  if (isMissing(number))
    return Dim();
  if (!number->dim || !isStaticDim(ctx, number->dim)) {
    ctx.sink.report(DiagId::StaticNotKnown, number->span, {std::string(what)});
    return Dim();
  }
  if (auto value = number->dim.constant(); value && *value < least) {
    ctx.sink.report(DiagId::NumberTooSmall, number->span,
                    {std::string(what), std::to_string(least), std::to_string(*value)});
    return Dim();
  }
  return number->dim;
}

static void markBlockLevel(Context &ctx) {
  if (ctx.decl)
    ctx.decl->isBlockLevel = true;
}

static Stmt *declare(Context &ctx, NodeId node, LocalKind kind, NodeId name, const Type *type,
                     const BlockObject &object) {
  auto *stmt = newStmt<BlockDeclStmt>(ctx, node);
  stmt->local = declareLocal(ctx, kind, ctx.text(name), ctx.span(name), type, name);
  stmt->local->object = ctx.program.make<BlockObject>(object);
  return stmt;
}

// ---- Buffers ------------------------------------------------------------------------------------

/// The type of a tile that is written as an array of one or two axes; the error type after a
/// report.
static const Type *tileTypeOf(Context &ctx, const Type *type, Span span, std::string_view what) {
  if (type->isError())
    return type;
  bool isTile =
      type->isArray() && !type->prefix && !type->extents.empty() && type->extents.size() <= 2;
  if (!isTile) {
    ctx.sink.report(DiagId::NotATileType, span, {std::string(what), toString(ctx, type)});
    return errorType(ctx);
  }
  for (const Extent &extent : type->extents)
    if (!isStaticDim(ctx, extent.length)) {
      ctx.sink.report(DiagId::StaticNotKnown, span,
                      {"the extent `" + toString(ctx.dims, extent) + "` of " + std::string(what)});
      return errorType(ctx);
    }
  Extent one = makeExtent(ctx, ctx.dims.constant(1));
  // A tile of one axis is a row.
  bool isRow = type->extents.size() == 1;
  return tileLike(ctx, type, isRow ? one : type->extents[0], type->extents.back());
}

/// On each machine that the kernel is for.
static void checkBufferOnMachines(Context &ctx, const Type *type, std::string_view name,
                                  Span span) {
  auto namer = [](const Elem &elem) {
    return elem.param ? std::string_view() : elemName(elem.kind);
  };
  for (const std::string &target : ctx.decl->targets)
    if (const Machine *machine = ctx.state.options.machines->find(target);
        machine && !machine->executable)
      if (std::string why = whyNoBuffer(*machine, *type, namer); !why.empty()) {
        ctx.sink.report(DiagId::NotOnMachine, span, {std::string(name), target, why});
        return;
      }
}

static Stmt *checkBuffer(Context &ctx, NodeId node) {
  BufferStmtView view(ctx.tree, node);
  BlockObject object;
  object.count = checkStaticNumber(ctx, view.count(), "the number of buffers", 1);
  object.address = checkStaticNumber(ctx, view.address(), "an address", 0);
  std::string name(ctx.text(view.name()));
  const Type *type =
      tileTypeOf(ctx, resolveType(ctx, view.type()), ctx.span(view.type()), "a buffer");
  Span end = ctx.span(view.type());
  // A buffer lies on a chip, so it needs a place there.
  if (!type->isError() && (type->place == Place::Inferred || type->place == Place::Gm)) {
    ctx.sink.report(DiagId::BufferNeedsPlace, end, {name})
        .fix(FixId::BufferPlace, "add a place, for example `@vec`",
             {{{end.file, end.end, end.end}, " @vec"}});
    type = errorType(ctx);
  }
  if (!type->isError()) {
    checkBufferOnMachines(ctx, type, name, end);
    std::string here = coreHere(ctx);
    if (!here.empty() && here != coreOfPlace(type->place))
      ctx.sink.report(
          DiagId::WrongCore, end,
          {"@" + std::string(placeName(type->place)), std::string(coreOfPlace(type->place)), here});
  }
  return declare(ctx, node, LocalKind::Buffer, view.name(), type, object);
}

// ---- Events -------------------------------------------------------------------------------------

static std::optional<Pipe> pipeByName(std::string_view name) {
  for (size_t i = 0; i <= kNumPipes; ++i)
    if (pipeNames[i] == name)
      return static_cast<Pipe>(i);
  return std::nullopt;
}

static std::string_view coreOfPipe(Pipe pipe) {
  switch (pipe) {
  case Pipe::V:
    return "aiv";
  case Pipe::M:
  case Pipe::MTE1:
  case Pipe::FIX:
    return "aic";
  default:
    // Other pipes are part of both cores.
    return ""; // both have it
  }
}

static DiagnosticBuilder reportPipe(Context &ctx, Span span, std::string_view name) {
  auto report = ctx.sink.report(DiagId::UnknownPipe, span, {std::string(name)});
  // `all` is no pipe of its own.
  std::vector<std::string> names(std::begin(pipeNames), std::end(pipeNames) - 1);
  if (std::string nearest = nearestName(name, names); !nearest.empty())
    return report.fix(FixId::Spelling, "did you mean `" + nearest + "`?", {{span, nearest}});
  return report.help("pipes are `s v m mte1 mte2 mte3 fix`");
}

/// `mte2`, `aiv.mte2`
static PipeEnd checkEnd(Context &ctx, NodeId path) {
  PipeEnd end;
  std::string_view text = ctx.text(path);
  if (text.empty())
    return end;
  size_t dot = text.find('.');
  if (dot != text.npos) {
    end.core = text.substr(0, dot);
    if (end.core != "aic" && end.core != "aiv")
      ctx.sink.report(DiagId::UnknownCore, ctx.span(path), {end.core})
          .help("the kinds of cores are `aic aiv`");
  }
  std::string_view name = dot == text.npos ? text : text.substr(dot + 1);
  auto pipe = pipeByName(name);
  // An event is between two pipes, so it cannot name all.
  if (!pipe || *pipe == Pipe::All) {
    reportPipe(ctx, ctx.span(path), name);
    return end;
  }
  end.pipe = *pipe;
  std::string_view core = coreOfPipe(end.pipe);
  // Without a core the event is one of the core here.
  std::string given = end.core.empty() ? coreHere(ctx) : end.core;
  if (!core.empty() && !given.empty() && given != core)
    ctx.sink.report(DiagId::WrongCore, ctx.span(path),
                    {std::string(pipeName(end.pipe)), std::string(core), given});
  return end;
}

static Stmt *checkEvent(Context &ctx, NodeId node) {
  EventStmtView view(ctx.tree, node);
  BlockObject object;
  object.count = checkStaticNumber(ctx, view.count(), "the number of events", 1);
  object.number = checkStaticNumber(ctx, view.number(), "the id of an event", 0);
  object.from = checkEnd(ctx, view.from());
  object.to = checkEnd(ctx, view.to());
  // Either both ends name their cores, or neither does.
  if (object.from.core.empty() != object.to.core.empty()) {
    NodeId other = object.from.core.empty() ? view.from() : view.to();
    ctx.sink.report(DiagId::EventCoresDiffer, ctx.span(other), {std::string(ctx.text(other))});
  } else if (object.from.core == object.to.core) {
    // One pipe runs its instructions in order, so an event within it is useless.
    if (object.from.pipe == object.to.pipe && !ctx.text(view.from()).empty() &&
        !ctx.sink.hasErrors()) {
      std::string pipe(pipeName(object.from.pipe));
      ctx.sink.report(DiagId::EventOfOnePipe, ctx.span(node), {pipe})
          .help("`barrier(" + pipe + ")` orders the instructions of one pipe");
    }
  }
  Type *type = copyType(ctx, *errorType(ctx));
  type->kind = TypeKind::Event;
  return declare(ctx, node, LocalKind::Event, view.name(), type, object);
}

// ---- Pipes between cores ------------------------------------------------------------------------

/// Queues have as many slots as the machine has for one way or for both.
static void checkDepthOnMachines(Context &ctx, Dim depth, NodeId node) {
  // A depth that depends on tunables is checked when they are known.
  std::optional<int64_t> slots = depth ? depth.constant() : std::nullopt;
  if (!slots || ctx.decl->kind != DeclKind::ManualKernel)
    return;
  for (const std::string &target : ctx.decl->targets) {
    const Machine *machine = ctx.state.options.machines->find(target);
    if (!machine || machine->executable)
      continue;
    int64_t few = machine->exchange.slotsTwoWay, many = machine->exchange.slotsOneWay;
    if (*slots == few || *slots == many)
      continue;
    std::string nearest = std::to_string(*slots < few ? few : many);
    ctx.sink
        .report(DiagId::NotOnMachine, ctx.span(node),
                {"depth " + std::to_string(*slots), target,
                 "queues have " + std::to_string(few) + " or " + std::to_string(many) + " slots"})
        .fix(FixId::QueueDepth, "use `" + nearest + "`", {{ctx.span(node), nearest}});
    return;
  }
}

static Stmt *checkPipe(Context &ctx, NodeId node) {
  PipeStmtView view(ctx.tree, node);
  BlockObject object;
  object.depth = checkStaticNumber(ctx, view.depth(), "the depth of a pipe", 1);
  checkDepthOnMachines(ctx, object.depth, view.depth());
  const Type *tile =
      tileTypeOf(ctx, resolveType(ctx, view.type()), ctx.span(view.type()), "a pipe");
  if (!tile->isError()) {
    Type *type = copyType(ctx, *tile);
    type->kind = TypeKind::Pipe;
    tile = type;
  }
  return declare(ctx, node, LocalKind::Pipe, view.name(), tile, object);
}

// ---- Sections -----------------------------------------------------------------------------------

static Stmt *checkSection(Context &ctx, NodeId node) {
  OnStmtView view(ctx.tree, node);
  auto *stmt = newStmt<OnStmt>(ctx, node);
  checkCoreName(ctx, view.core());
  if (view.part() != kNoNode)
    ctx.sink.report(
        DiagId::SectionNotHere, ctx.span(view.part()),
        {"in a kernel a section names a kind of core; only programs have sections for parts"});
  stmt->core = ctx.text(view.core());
  stmt->splitRows = view.split() != kNoNode;
  // A kernel for one core cannot have a section of the other.
  if (ctx.isKind(DeclKind::ManualKernel) && !ctx.decl->core.empty() && ctx.decl->core != stmt->core)
    ctx.sink.report(DiagId::WrongCore, ctx.span(node),
                    {"on " + stmt->core, stmt->core, ctx.decl->core});
  bool wasInSection = ctx.inSection;
  std::string outer = ctx.sectionCore;
  // The section ends with its block, so what was before is kept.
  ctx.inSection = true;
  ctx.sectionCore = stmt->core;
  stmt->body = checkBlock(ctx, view.body(), false);
  ctx.inSection = wasInSection;
  ctx.sectionCore = outer;
  return stmt;
}

Stmt *checkBlockLevelStmt(Context &ctx, NodeId node) {
  NodeKind kind = ctx.tree.kind(node);
  if (ctx.inProgram() && kind == NodeKind::PipeStmt)
    return checkPartPipe(ctx, node);
  if (ctx.inProgram() && kind == NodeKind::OnStmt)
    return checkPartSection(ctx, node);
  markBlockLevel(ctx);
  bool byHand = kind == NodeKind::BufferStmt || kind == NodeKind::EventStmt;
  if (!ctx.inKernel() || (byHand && !ctx.isKind(DeclKind::ManualKernel)))
    ctx.sink.report(DiagId::StatementNotHere, ctx.span(node),
                    {"`" + std::string(ctx.tree.mainText(node)) + "`", declKindText(ctx)});
  switch (kind) {
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

} // namespace ptl
