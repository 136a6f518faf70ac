#include "codegen/pto/emit_pto_buffers.h"

#include "codegen/pto/buffer_address.h"
#include "codegen/pto/popped_tiles.h"
#include "codegen/pto/pto_tiles.h"
#include "codegen/pto/windows.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

void emitSlot(PtoCode &code, MultiTileGetOp op) {
  auto slots = cast<MultiTileBufType>(op.getSource().getType());
  const MemorySpace *memory = code.machine().space(ir::placeName(slots.getSlot().getPlace()).str());
  // Slots are aligned, so the stride may be larger than a slot.
  int64_t stride = slotStride(slots, memory ? memory->alignment : 32);
  const TileAddress *known = code.addressOf(op.getSource());
  TileAddress address = known ? *known : TileAddress();
  // Slots are taken round robin: `slot % count`.
  if (std::optional<int64_t> number = getConstantIntValue(op.getSlot())) {
    address.constant += *number % slots.getCount() * stride;
  } else {
    const std::string base = code.plainName(op.getResult()) + "_slot";
    std::string slot = code.fresh(base);
    code.line(op, slot + " = arith.remui " + code.name(op.getSlot()) + ", " +
                      code.indexConstant(slots.getCount()) + " : index");
    address.computed = scaled(code, op, slot, stride, base);
  }
  emitTileAt(code, op, address, op.getType(), op.getValidRow(), op.getValidCol());
}

void emitWindow(PtoCode &code, SubsetOp op) {
  const TileAddress *known = code.addressOf(op.getSource());
  if (!known)
    return emitPoppedWindow(code, op);
  TileBufType source = bufferTypeOf(op);
  TileAddress address = *known;
  WindowStrides strides = windowStrides(source);
  std::string base = code.plainName(op.getResult());
  // Constant offsets are added up at once, and the others by code.
  auto along = [&](Value position, int64_t stride, const char *suffix) {
    if (std::optional<int64_t> at = getConstantIntValue(position)) {
      address.constant += *at * stride;
      return;
    }
    std::string bytes = scaled(code, op, code.name(position), stride, base + suffix);
    if (!address.computed.empty()) {
      std::string sum = code.fresh(base + "_offset");
      code.line(op, sum + " = arith.addi " + address.computed + ", " + bytes + " : i64");
      bytes = sum;
    }
    address.computed = bytes;
  };
  // Inside a box elements are nearer than between boxes; constants may begin anywhere.
  std::optional<int64_t> row = getConstantIntValue(op.getRow()),
                         col = getConstantIntValue(op.getCol());
  if (row && col) {
    address.constant += elementOffset(source, *row, *col);
  } else {
    along(op.getRow(), strides.row, "_row");
    along(op.getCol(), strides.col, "_col");
  }
  emitTileAt(code, op, address, windowType(op), op.getValidRow(), op.getValidCol());
}

/// Emits an alias of a tile with another type: a tile at the same address, where that is known.
void emitAlias(PtoCode &code, Operation *op, Value source, Value rows, Value cols) {
  auto type = cast<TileBufType>(op->getResult(0).getType());
  // A reshape of a tile at a known address is another tile at that address, which every version of
  // PTOAS accepts.
  if (const TileAddress *known = code.addressOf(source)) {
    TileAddress address = *known;
    return emitTileAt(code, op, address, type, rows, cols);
  }
  code.line(op, code.result(op) + op->getName().getStringRef().str() + " " + code.name(source) +
                    " : " + code.typeOf(source) + " -> " + code.typeText(type));
  // Without an address the valid shape is set afterwards.
  if (rows && cols)
    code.line(op, "pto.set_validshape " + code.name(op->getResult(0)) + ", " + code.name(rows) +
                      ", " + code.name(cols) + " : " + code.typeText(type));
}

} // namespace

bool emitBuffer(PtoCode &code, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AllocTileOp>([&](AllocTileOp made) {
        std::optional<int64_t> address = addressOrMissing(code, op, made.getAddr());
        TileAddress at;
        if (address)
          at.constant = *address;
        else
          at.computed = code.name(made.getAddr());
        return emitTileAt(code, op, at, made.getType(), made.getValidRow(), made.getValidCol()),
               true;
      })
      .Case<AllocMultiTileOp>([&](AllocMultiTileOp made) {
        int64_t address = constantAddress(code, op, made.getAddr());
        // Older versions have no such operation; then only the address is noted, and slots are
        // computed from it.
        if (code.has(PtoasChange::MultiTile))
          code.line(op, code.result(op) + "pto.alloc_multi_tile addr = " +
                            code.longConstant(address) + " : " + code.typeText(made.getType()));
        code.setAddress(made, {"", address});
        return true;
      })
      .Case<MultiTileGetOp>([&](MultiTileGetOp made) {
        if (!code.has(PtoasChange::MultiTile))
          return emitSlot(code, made), true;
        std::string valid;
        if (made.getValidRow())
          valid += " valid_row = " + code.name(made.getValidRow());
        if (made.getValidCol())
          valid += " valid_col = " + code.name(made.getValidCol());
        code.line(op, code.result(op) + "pto.multi_tile_get " + code.name(made.getSource()) + "[" +
                          code.name(made.getSlot()) + "]" + valid + " : " +
                          code.typeText(made.getSource().getType()) + " -> " +
                          code.typeText(made.getType()));
        return true;
      })
      .Case<SubsetOp>([&](SubsetOp made) { return emitWindow(code, made), true; })
      .Case<TReshapeOp, BitcastOp>([&](auto made) {
        return emitAlias(code, op, made.getSource(), made.getValidRow(), made.getValidCol()), true;
      })
      .Case<DeclareTileOp>([&](DeclareTileOp made) { return emitPoppedTile(code, made), true; })
      .Case<SetValidShapeOp>([&](SetValidShapeOp made) {
        code.line(op, "pto.set_validshape " + code.names(op->getOperands()) + " : " +
                          code.typeOf(made.getSource()));
        return true;
      })
      .Case<TGetValOp>([&](TGetValOp made) {
        auto [tile, type] = withoutSign(code, op, op->getOperand(0));
        code.line(op, code.result(op) + "pto.tgetval ins(" + tile + ", " +
                          code.name(op->getOperand(1)) + " : " + type + ", " +
                          code.typeOf(op->getOperand(1)) +
                          ") outs : " + code.typeOf(made.getValue()));
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
