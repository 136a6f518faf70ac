#include "frontend/sema/block/check_block_call.h"

#include "frontend/sema/block/check_block_level.h"
#include "frontend/sema/block/check_block_operands.h"
#include "frontend/sema/block/check_block_tile.h"
#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/block/instruction_shapes.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/placement/section_call.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>

namespace ptl {

namespace {
struct BlockCall {
  std::string_view name;
  int least, greatest;
};
} // namespace

static constexpr BlockCall blockCalls[] = {
#define BLOCK_CALL(NAME, LEAST, GREATEST) {#NAME, LEAST, GREATEST},
#include "frontend/sema/block/block_calls.def"
};

static const BlockCall *findBlockCall(std::string_view name) {
  for (const BlockCall &call : blockCalls)
    if (call.name == name)
      return &call;
  return nullptr;
}

static const InstructionInfo *findBySurfaceName(std::string_view name) {
  if (!name.starts_with('t') && !name.starts_with('m'))
    return nullptr;
  for (const InstructionInfo &info : instructions)
    if (info.mnemonic.size() == name.size() && surfaceName(info) == name)
      return &info;
  return nullptr;
}

// ---- Events and barriers ------------------------------------------------------------------------

/// The pipe, event or buffer that an expression names itself: what a `let` holds is none. Null: it
/// does not.
static const BlockObject *declaredObject(const Expr *expr) {
  return expr->kind == ExprKind::LocalRef ? cast<LocalRefExpr>(expr)->local->object : nullptr;
}

/// `signal(e)`, `wait(e[i])`
static Expr *checkSignal(Context &ctx, NodeId node, bool isSignal, const CallArgument &arg) {
  BlockExpr *call = newBlock(ctx, node, isSignal ? BlockOp::Signal : BlockOp::Wait, voidType(ctx));
  Expr *event = checkBase(ctx, arg.value);
  if (isMissing(event))
    return call;
  if (event->type->kind != TypeKind::Event ||
      (event->kind != ExprKind::Block && !declaredObject(event))) {
    ctx.sink.report(
        DiagId::WrongOperand, event->span,
        {isSignal ? "signal" : "wait", "1", "`" + toString(ctx, event->type) + "`", "an event"});
    return call;
  }
  if (auto *slot = dyn_cast<BlockExpr>(event)) {
    call->object = slot->object;
    call->ins = {slot->ins[1]};
  } else {
    call->object = cast<LocalRefExpr>(event)->local;
    if (call->object->object->count)
      ctx.sink.report(DiagId::EventNeedsNumber, event->span, {call->object->name})
          .label(call->object->span, "declared here");
  }
  const BlockObject &object = *call->object->object;
  const PipeEnd &own = isSignal ? object.from : object.to;
  // The hardware sets a flag from the pipe that produces and awaits it on the one that consumes, so
  // each end belongs to one kind of core.
  if (!own.core.empty() && own.core != call->core)
    requireCore(ctx, call->span, isSignal ? "signal" : "wait", own.core);
  else if (call->core.empty() && ctx.isKind(DeclKind::ManualKernel))
    ctx.sink.report(DiagId::CoreNotSaid, call->span, {isSignal ? "signal" : "wait", "aiv"});
  return call;
}

static Expr *checkBarrier(Context &ctx, NodeId node, const CallArgument &arg) {
  BlockExpr *call = newBlock(ctx, node, BlockOp::Barrier, voidType(ctx));
  std::string_view name = ctx.text(arg.value);
  for (size_t i = 0; i <= kNumPipes; ++i)
    if (pipeNames[i] == name) {
      call->pipe = static_cast<Pipe>(i);
      return call;
    }
  ctx.sink.report(DiagId::UnknownPipe, arg.span, {std::string(name)})
      .help("pipes are `s v m mte1 mte2 mte3 fix`, or `all`");
  return call;
}

// ---- Pipes between cores ------------------------------------------------------------------------

static Local *pipeArgument(Context &ctx, const CallArgument &arg, std::string_view name) {
  Expr *pipe = checkBase(ctx, arg.value);
  if (isMissing(pipe))
    return nullptr;
  if (pipe->type->kind == TypeKind::Pipe && declaredObject(pipe))
    return cast<LocalRefExpr>(pipe)->local;
  ctx.sink.report(DiagId::WrongOperand, pipe->span,
                  {std::string(name), "1", "`" + toString(ctx, pipe->type) + "`", "a pipe"});
  return nullptr;
}

/// The part of a pipe's tile that one core pushes or pops.
static const Type *partOf(Context &ctx, const Local &pipe, bool onVector, Place place,
                          Layout layout) {
  Extent extents[2] = {pipe.type->extents[0], pipe.type->extents[1]};
  if (int split = pipe.object->split; split && onVector) {
    Dim &whole = extents[split - 1].length;
    extents[split - 1] = makeExtent(ctx, ctx.dims.ceilDiv(whole, ctx.dims.constant(2)));
  }
  Type *type = copyType(ctx, *tileLike(ctx, pipe.type, extents[0], extents[1]));
  type->place = place;
  type->layout = layout;
  return type;
}

static Expr *checkTPush(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  BlockExpr *call = newBlock(ctx, node, BlockOp::Push, voidType(ctx));
  call->object = pipeArgument(ctx, args[0], "tpush");
  Expr *tile = checkBase(ctx, args[1].value);
  if (!call->object || isMissing(tile))
    return call;
  if (!isTile(tile->type)) {
    ctx.sink.report(DiagId::WrongOperand, tile->span,
                    {"tpush", "2", "`" + toString(ctx, tile->type) + "`", "a tile"});
    return call;
  }
  call->ins = {tile};
  requireCore(ctx, call->span, "tpush", coreOfPlace(tile->type->place));
  BlockObject &object = *call->object->object;
  // The direction of a pipe is that of its first push: cube cores push to vector cores and the
  // other way round.
  bool toVector = call->core != "aiv";
  if (object.hasPush && object.toVector != toVector)
    ctx.sink.report(DiagId::PipeBothWays, call->span, {call->object->name})
        .label(call->object->span, "declared here");
  object.hasPush = true;
  object.toVector = toVector;
  const Type *part = partOf(ctx, *call->object, !toVector, tile->type->place, tile->type->layout);
  for (size_t axis = 0; axis < 2; ++axis) {
    // A slot of the pipe holds the whole tile with its padding, so the capacity counts and not the
    // valid length.
    Extent held{tile->type->extents[axis].capacity, {}, nullptr};
    if (!(extentsEqual(ctx, held, part->extents[axis]) == Proof::True) ||
        !(part->elem == tile->type->elem)) {
      ctx.sink.report(DiagId::OperandShape, tile->span,
                      {"tpush", toString(ctx, tile->type), toString(ctx, part), "it"});
      break;
    }
  }
  return call;
}

static Expr *checkTPop(Context &ctx, NodeId node, const CallArgument &arg) {
  BlockExpr *call = newBlock(ctx, node, BlockOp::Pop, errorType(ctx));
  call->object = pipeArgument(ctx, arg, "tpop");
  if (!call->object)
    return call;
  if (call->core.empty())
    requireCore(ctx, call->span, "tpop", "aiv");
  bool onVector = call->core != "aic";
  call->type = partOf(ctx, *call->object, onVector, onVector ? Place::Vec : Place::Mat,
                      onVector ? Layout::Nd : Layout::Nz);
  return call;
}

/// `initialize_pipe(q, split: .rows, hold: 2, base: 0x4000, flag: 0)`: what a pipe is beside its
/// type and depth.
static Expr *checkInitialize(Context &ctx, NodeId node, const std::vector<CallArgument> &args) {
  Expr *nothing = newBlock(ctx, node, BlockOp::Initialize, voidType(ctx));
  Local *pipe = nullptr;
  for (const CallArgument &arg : args)
    if (arg.name.empty())
      pipe = pipeArgument(ctx, arg, "initialize_pipe");
  if (!pipe)
    return nothing;
  BlockObject &object = *pipe->object;
  for (const CallArgument &arg : args) {
    if (arg.name == "hold") {
      object.hold =
          checkStaticNumber(ctx, arg.value, "the number of tiles that the consumer holds", 1);
    } else if (arg.name == "base") {
      object.address = checkStaticNumber(ctx, arg.value, "an address", 0);
    } else if (arg.name == "flag") {
      object.number = checkStaticNumber(ctx, arg.value, "the flag of a pipe", 0);
    } else if (arg.name == "split") {
      bool isTag = ctx.tree.is(arg.value, NodeKind::DotName);
      std::string_view word =
          isTag ? ctx.text(DotNameView(ctx.tree, arg.value).name()) : ctx.text(arg.value);
      object.split = word == "rows" ? 1 : word == "cols" ? 2 : 0;
      if (!object.split && word != "none")
        ctx.sink.report(DiagId::UnknownEnumValue, ctx.span(arg.value),
                        {std::string(word), "split", "`.rows` `.cols` `.none`"});
    } else if (!arg.name.empty()) {
      ctx.sink.report(DiagId::UnknownArgument, arg.span,
                      {"initialize_pipe", std::string(arg.name)});
    }
  }
  return nothing;
}

static Expr *checkTFree(Context &ctx, NodeId node, const CallArgument &arg) {
  BlockExpr *call = newBlock(ctx, node, BlockOp::Free, voidType(ctx));
  call->object = pipeArgument(ctx, arg, "tfree");
  return call;
}

// ---- Scalars ------------------------------------------------------------------------------------

static Expr *checkIdentity(Context &ctx, NodeId node, BlockOp op) {
  BlockExpr *call = newBlock(ctx, node, op, intType(ctx));
  if (op == BlockOp::SubBlockIdx || op == BlockOp::SubBlockNum)
    requireCore(ctx, call->span, "get_subblock_idx", "aiv");
  return call;
}

/// `tgetval(t, i)`, `load_scalar(x, i)`, `store_scalar(y, i, v)`
static Expr *checkElement(Context &ctx, NodeId node, BlockOp op, std::string_view name,
                          const std::vector<CallArgument> &args) {
  BlockExpr *call = newBlock(ctx, node, op, errorType(ctx));
  Expr *source = checkBase(ctx, args[0].value);
  Expr *position = checkIntScalar(ctx, args[1].value, "a position");
  if (isMissing(source) || isMissing(position))
    return call;
  bool fits = op == BlockOp::GetVal ? isTile(source->type) : isTensor(source);
  if (!fits) {
    ctx.sink.report(DiagId::WrongOperand, source->span,
                    {std::string(name), "1", "`" + toString(ctx, source->type) + "`",
                     op == BlockOp::GetVal ? "a tile" : "a tensor"});
    return call;
  }
  const Type *element = scalarType(ctx, source->type->elem);
  if (op != BlockOp::StoreScalar) {
    call->ins = {source, position};
    call->type = element;
    return call;
  }
  Operand value = checkOperand(ctx, args[2].value, element);
  Expr *stored = value.isUntyped() ? operandAs(ctx, value, source->type->elem)
                                   : convertTo(ctx, value.expr, element, "the value");
  call->outs = {source};
  call->ins = {position, stored};
  call->type = voidType(ctx);
  return call;
}

// ---- Dispatch -----------------------------------------------------------------------------------

/// `pop(p)` in a section has the type that its `let` says, else the pipe's capacity.
static Expr *checkSectionCall(Context &ctx, NodeId node, std::string_view name,
                              const std::vector<CallArgument> &args, const Type *expected) {
  std::vector<Expr *> values;
  for (const CallArgument &arg : args)
    if (arg.name.empty() && !ctx.tree.is(arg.value, NodeKind::DotName))
      values.push_back(checkBase(ctx, arg.value));
  bool isPop = name == "pop", isPush = name == "push";
  BlockExpr *call = newBlock(ctx, node, isPop ? BlockOp::Pop : BlockOp::Push, voidType(ctx));
  if (!isPop && !isPush) {
    Expr *other = newExpr<Expr>(ctx, node, voidType(ctx));
    if (name != "put")
      other->type = errorType(ctx);
    return other;
  }
  Expr *pipe = values.empty() ? nullptr : values.front();
  if (!pipe || isMissing(pipe))
    return errorExpr(ctx, node);
  if (pipe->type->kind != TypeKind::Pipe || !declaredObject(pipe)) {
    ctx.sink.report(DiagId::WrongOperand, pipe->span,
                    {std::string(name), "1", "`" + toString(ctx, pipe->type) + "`", "a pipe"});
    return errorExpr(ctx, node);
  }
  call->object = cast<LocalRefExpr>(pipe)->local;
  if (isPush) {
    call->ins.assign(values.begin() + 1, values.end());
    return call;
  }
  Type *whole = copyType(ctx, *pipe->type);
  whole->kind = TypeKind::Array;
  call->type = expected ? expected : whole;
  return call;
}

static Expr *checkOther(Context &ctx, NodeId node, std::string_view name,
                        const std::vector<CallArgument> &args, const Type *expected) {
  if (name == "signal" || name == "wait")
    return checkSignal(ctx, node, name == "signal", args[0]);
  if (name == "barrier")
    return checkBarrier(ctx, node, args[0]);
  if (name == "initialize_pipe")
    return checkInitialize(ctx, node, args);
  if (name == "tpush")
    return checkTPush(ctx, node, args);
  if (name == "tpop")
    return checkTPop(ctx, node, args[0]);
  if (name == "tfree")
    return checkTFree(ctx, node, args[0]);
  if (name == "treshape")
    return checkReshape(ctx, node, args);
  if (name == "bitcast")
    return checkBitcast(ctx, node, args);
  if (name == "make_tensor_view")
    return checkTensorView(ctx, node, args);
  if (name == "tgetval")
    return checkElement(ctx, node, BlockOp::GetVal, name, args);
  if (name == "load_scalar" || name == "store_scalar")
    return checkElement(
        ctx, node, name == "load_scalar" ? BlockOp::LoadScalar : BlockOp::StoreScalar, name, args);
  constexpr std::pair<std::string_view, BlockOp> identities[] = {
      {"get_block_idx", BlockOp::BlockIdx},
      {"get_block_num", BlockOp::BlockNum},
      {"get_subblock_idx", BlockOp::SubBlockIdx},
      {"get_subblock_num", BlockOp::SubBlockNum}};
  for (auto [identity, op] : identities)
    if (name == identity)
      return checkIdentity(ctx, node, op);
  return checkSectionCall(ctx, node, name, args, expected);
}

Expr *checkBlockCall(Context &ctx, NodeId node, std::string_view name,
                     const std::vector<CallArgument> &args, const Type *expected) {
  const InstructionInfo *info = findBySurfaceName(name);
  const BlockCall *call = info ? nullptr : findBlockCall(name);
  if (!call && !info)
    return nullptr;
  // `bitcast(x, to: i32)` is the built-in, here for a scalar: calls of this level that share a name with one take no names.
  bool isNamed = std::any_of(args.begin(), args.end(),
                             [](const CallArgument &arg) { return !arg.name.empty(); });
  if (call && isNamed && !findOps(name).empty())
    return nullptr;
  bool isSection = name == "push" || name == "pop";
  if (isSection && ctx.inProgram())
    return checkPartCall(ctx, node, name, args);
  bool isCollective = call && call->greatest < 0;
  bool here = isSection      ? ctx.isKind(DeclKind::Kernel)
              : isCollective ? true
                             : ctx.isKind(DeclKind::ManualKernel);
  if (!here && !findOps(name).empty()) // means something else there
    return nullptr;
  if (!here) {
    auto report = ctx.sink.report(DiagId::StatementNotHere, ctx.span(node),
                                  {"`" + std::string(name) + "`", declKindText(ctx)});
    if (isSection && ctx.isKind(DeclKind::ManualKernel))
      report.help("instructions of a manual kernel are `tpush`, `tpop` and `tfree`");
    else if (!isSection)
      report.help("instructions can only be called in a `manual kernel`");
    // The arguments are checked all the same: names in them count as used, and their own errors are reported.
    for (const CallArgument &arg : args)
      if (arg.value != kNoNode && !ctx.tree.is(arg.value, NodeKind::DotName) &&
          !namesType(ctx, arg.value) && name != "barrier")
        checkBase(ctx, arg.value);
    return errorExpr(ctx, node);
  }
  if (ctx.decl)
    ctx.decl->isBlockLevel = true;
  if (info)
    return checkInstruction(ctx, node, *info, args);
  auto count = static_cast<int>(std::count_if(
      args.begin(), args.end(), [](const CallArgument &arg) { return arg.name.empty(); }));
  if (count < call->least || (call->greatest >= 0 && count > call->greatest)) {
    ctx.sink.report(DiagId::WrongArgumentCount, ctx.span(node),
                    {std::string(name),
                     std::to_string(call->least) + (call->least == 1 ? " argument" : " arguments"),
                     std::to_string(count)});
    return errorExpr(ctx, node);
  }
  return checkOther(ctx, node, name, args, expected);
}

} // namespace ptl
