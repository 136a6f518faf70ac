// Declarations and operations of the block level.
#include "ir/build/build_block.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_instruction.h"
#include "ir/build/build_tile.h"
#include "ir/build/build_type.h"
#include "ir/build/build_view.h"
#include "ir/dialect/attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

static Location named(MLIRContext &context, const std::string &name, Location loc) {
  return name.empty() ? loc : Location(NameLoc::get(StringAttr::get(&context, name), loc));
}

// ---- Declarations -------------------------------------------------------------------------------

static void buildQueue(BuildContext &c, Local &local, Location loc) {
  const BlockObject &object = *local.object;
  pto::TileBufType whole = tileType(c, *local.type);
  int64_t bytes = pto::slotBytes(whole.getRows(), whole.getCols(), whole.getElementType());
  // A tile that is split takes half a slot in each vector core.
  int64_t part = object.split && object.toVector ? bytes / 2 : bytes;
  auto number = [&](Dim dim) {
    std::optional<int64_t> value = dim ? constantDim(c, dim) : std::nullopt;
    return value ? c.b.getI64IntegerAttr(*value) : IntegerAttr();
  };
  c.bound(local) = Bound::of(c.make<QueueOp>(
      loc, pto::PipeHandleType::get(&c.context), c.b.getStringAttr(local.name),
      c.b.getBoolAttr(object.toVector), c.b.getI64IntegerAttr(bytes), c.b.getI64IntegerAttr(part),
      c.b.getI64IntegerAttr(object.split), number(object.depth), number(object.hold),
      number(object.address), number(object.number)));
}

void buildBlockDecl(BuildContext &c, const BlockDeclStmt &stmt) {
  Local &local = *stmt.local;
  // Events are only numbers, which were chosen before.
  if (local.kind == LocalKind::Event)
    return;
  Location loc = named(c.context, local.name, c.location(stmt.span));
  if (local.kind == LocalKind::Pipe)
    return buildQueue(c, local, loc);
  pto::TileBufType type = tileType(c, *local.type);
  Dim at = local.object->address;
  std::optional<int64_t> bytes = at ? constantDim(c, at) : std::nullopt;
  mlir::Value address;
  // A buffer without an address is placed by a later pass.
  if (bytes)
    address = c.make<arith::ConstantIntOp>(loc, *bytes, 64);
  if (!local.object->count)
    c.bound(local) =
        Bound::of(c.make<pto::AllocTileOp>(loc, type, address, mlir::Value(), mlir::Value()));
  else
    c.bound(local) = Bound::of(c.make<pto::AllocMultiTileOp>(
        loc,
        pto::MultiTileBufType::get(&c.context, type,
                                   constantDim(c, local.object->count).value_or(1)),
        address));
}

// ---- Dispatch -----------------------------------------------------------------------------------

/// On what makes a value that crosses: what its pipe says of slots.
static void noteCount(const Bound &pushed, llvm::StringRef name, std::optional<int64_t> count) {
  if (Operation *maker = pushed.value ? pushed.value.getDefiningOp() : nullptr; maker && count)
    maker->setAttr(name, IntegerAttr::get(IntegerType::get(maker->getContext(), 64), *count));
}

/// What one section pushes is what the other pops.
static Bound buildCrossing(BuildContext &c, const BlockExpr &call) {
  if (call.op == BlockOp::Push) {
    Bound pushed = readRefs(c, buildExpr(c, *call.ins[0]), c.here(call));
    // The pipes of programs are between parts, and have no slots on a chip.
    if (const BlockObject &pipe = *call.object->object; !pipe.carried) {
      noteCount(pushed, attrs::slots, pipe.depth ? constantDim(c, pipe.depth) : std::nullopt);
      noteCount(pushed, attrs::hold, pipe.hold ? constantDim(c, pipe.hold) : std::nullopt);
    }
    bindLocal(c, *call.value, pushed);
  }
  return c.bound(*call.value);
}

static Bound buildQueueExpr(BuildContext &c, const BlockExpr &call) {
  Location loc = c.here(call);
  auto split = [&] {
    return c.b.getI8IntegerAttr(static_cast<int8_t>(call.object->object->split));
  };
  if (call.op == BlockOp::Push) {
    c.make<pto::TPushOp>(loc, buildValue(c, *call.ins[0]), c.bound(*call.object).value, split());
    return {};
  }
  if (call.op == BlockOp::Free) {
    c.make<pto::TFreeOp>(loc, c.bound(*call.object).value, split());
    return {};
  }
  // The popped tile lies where the queue says, so it is declared without an address.
  mlir::Value tile =
      c.make<pto::DeclareTileOp>(named(c.context, call.object->name, loc), tileType(c, *call.type),
                                 mlir::Value(), mlir::Value());
  c.make<pto::TPopOp>(loc, tile, c.bound(*call.object).value, split());
  return Bound::of(tile);
}

static Bound buildElementExpr(BuildContext &c, const BlockExpr &call) {
  Location loc = c.here(call);
  if (call.op == BlockOp::GetVal)
    return Bound::of(
        c.make<pto::TGetValOp>(loc, scalarType(c.context, elemKind(c, call.type->elem)),
                               buildValue(c, *call.ins[0]), positionOf(c, *call.ins[1])));
  if (call.op == BlockOp::LoadScalar) {
    TensorView view = wholeTensor(c, *call.ins[0], false);
    return Bound::of(
        loadScalar(c, view, positionOf(c, *call.ins[1]), elemKind(c, call.type->elem), loc));
  }
  TensorView view = wholeTensor(c, *call.outs[0], true);
  storeScalar(c, view, positionOf(c, *call.ins[0]), buildValue(c, *call.ins[1]), loc);
  return {};
}

Bound buildBlockExpr(BuildContext &c, const BlockExpr &call) {
  Location loc = c.here(call);
  // In sections of ordinary kernels pushes and pops become plain values.
  if (call.value)
    return buildCrossing(c, call);
  auto id = [&](mlir::Value value) {
    return Bound::of(c.make<arith::IndexCastOp>(loc, c.b.getIndexType(), value));
  };
  mlir::Type i64 = c.b.getI64Type();
  switch (call.op) {
  case BlockOp::Instruction:
    buildInstruction(c, call);
    return {};
  case BlockOp::Slot:
    return Bound::of(buildSlot(c, call, tileType(c, *call.type), {}));
  case BlockOp::Window:
    return Bound::of(buildWindow(c, call));
  case BlockOp::Reshape:
  case BlockOp::Bitcast:
    return Bound::of(buildAlias(c, call));
  // Views are built where they are used; queues were described at their declaration.
  case BlockOp::View:
  case BlockOp::Initialize:
    return {};
  case BlockOp::Push:
  case BlockOp::Pop:
  case BlockOp::Free:
    return buildQueueExpr(c, call);
  case BlockOp::Signal:
  case BlockOp::Wait:
    buildSignal(c, call);
    return {};
  case BlockOp::Barrier:
    c.make<pto::BarrierOp>(loc, pto::PipeKindAttr::get(&c.context, pto::pipeKind(call.pipe)));
    return {};
  case BlockOp::BlockIdx:
    return id(c.make<pto::GetBlockIdxOp>(loc, i64));
  case BlockOp::BlockNum:
    return id(c.make<pto::GetBlockNumOp>(loc, i64));
  case BlockOp::SubBlockIdx:
    return id(c.make<pto::GetSubBlockIdxOp>(loc, i64));
  case BlockOp::SubBlockNum:
    return id(c.make<pto::GetSubBlockNumOp>(loc, i64));
  case BlockOp::GetVal:
  case BlockOp::LoadScalar:
  case BlockOp::StoreScalar:
    return buildElementExpr(c, call);
  }
  return {};
}

} // namespace ptl::ir
