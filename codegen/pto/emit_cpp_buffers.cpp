#include "codegen/pto/emit_cpp_buffers.h"

#include "codegen/pto/buffer_address.h"
#include "codegen/pto/cpp_expressions.h"
#include "codegen/pto/windows.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

CppExpression hex(int64_t value) {
  return {value < 16 ? std::to_string(value)
                     : "0x" + llvm::utohexstr(static_cast<uint64_t>(value), /*LowerCase=*/true)};
}

CppExpression times(const CppExpression &a, int64_t by) {
  return {a.within(Precedence::Product) + " * " + hex(by).text, Precedence::Product};
}

/// Packed bits of comparisons are unsigned in the library.
TileBufType asMask(TileBufType type, Value tile) {
  bool isMask = llvm::any_of(tile.getUses(), [](OpOperand &use) {
    Instruction instruction(use.getOwner());
    if (!instruction)
      return false;
    InstructionId id = instruction.id();
    bool compares = id == InstructionId::TCmp || id == InstructionId::TCmps;
    bool selects = id == InstructionId::TSel || id == InstructionId::TSels;
    return compares ? use.get() == instruction.outs().front()
                    : selects && use.getOperandNumber() == 0;
  });
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!isMask || !integer)
    return type;
  // The library's masks are unsigned, while the compiler's element type has a sign.
  auto element = IntegerType::get(type.getContext(), integer.getWidth(), IntegerType::Unsigned);
  return TileBufType::get(type.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                          element, type.getValidRows(), type.getValidCols(), type.getLayout());
}

void declareTile(CppCode &code, Operation *op, TileBufType type, Value rows, Value cols) {
  std::string alias = code.types().tile(asMask(type, op->getResult(0))), arguments;
  code.setType(op->getResult(0), alias);
  // Only extents that are not part of the type are arguments.
  for (Value value : {rows, cols})
    if (value)
      arguments += (arguments.empty() ? "" : ", ") + textOf(code, value);
  code.line(op, alias + " " + code.names().of(op->getResult(0)) +
                    (arguments.empty() ? "" : "(" + arguments + ")") + ";");
}

void emitTileAt(CppCode &code, Operation *op, const CppExpression &address, TileBufType type,
                Value rows, Value cols) {
  declareTile(code, op, type, rows, cols);
  // The address is kept for windows and views of this tile.
  code.setAddress(op->getResult(0), address);
  code.line(op, "TASSIGN(" + code.names().of(op->getResult(0)) + ", " + address.text + ");");
}

void emitWindow(CppCode &code, SubsetOp op) {
  TileBufType source = bufferTypeOf(op), type = windowType(op);
  // A tile that a queue binds has no address of its own, so the library makes the window.
  const CppExpression *known = code.addressOf(op.getSource());
  if (!known) {
    declareTile(code, op, op.getType(), op.getValidRow(), op.getValidCol());
    return code.line(op, "TSUBVIEW(" + code.names().of(op) + ", " + textOf(code, op.getSource()) +
                             ", " + textOf(code, op.getRow()) + ", " + textOf(code, op.getCol()) +
                             ");");
  }
  std::optional<int64_t> row = getConstantIntValue(op.getRow()),
                         col = getConstantIntValue(op.getCol());
  CppExpression address = *known;
  // With constants the offset is a number; else it is computed from rows and columns.
  if (row && col) {
    address = sumOf(address, hex(elementOffset(source, *row, *col)));
  } else {
    WindowStrides strides = windowStrides(source);
    if (row != 0)
      address = sumOf(address, times(expression(code, op.getRow()), strides.row));
    if (col != 0)
      address = sumOf(address, times(expression(code, op.getCol()), strides.col));
  }
  emitTileAt(code, op, address, type, op.getValidRow(), op.getValidCol());
}

} // namespace

bool emitBuffer(CppCode &code, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AllocTileOp>([&](AllocTileOp made) {
        std::optional<int64_t> address = addressOrMissing(code, op, made.getAddr());
        CppExpression at = address ? hex(*address) : expression(code, made.getAddr());
        return emitTileAt(code, op, at, made.getType(), made.getValidRow(), made.getValidCol()),
               true;
      })
      .Case<AllocMultiTileOp>([&](AllocMultiTileOp made) {
        // The ring itself is no variable; only its slots are.
        code.setAddress(made, hex(constantAddress(code, op, made.getAddr())));
        return true;
      })
      .Case<MultiTileGetOp>([&](MultiTileGetOp made) {
        auto slots = cast<MultiTileBufType>(made.getSource().getType());
        const MemorySpace *memory =
            code.machine().space(ir::placeName(slots.getSlot().getPlace()).str());
        // Slots lie as far apart as the memory's alignment asks for.
        int64_t stride = slotStride(slots, memory ? memory->alignment : 32);
        const CppExpression *known = code.addressOf(made.getSource());
        CppExpression address = known ? *known : CppExpression();
        if (std::optional<int64_t> slot = getConstantIntValue(made.getSlot())) {
          llvm::APInt base(64, 0);
          (void)llvm::StringRef(address.text).getAsInteger(0, base);
          // The text of a constant address is read back as a number.
          address =
              hex(static_cast<int64_t>(base.getZExtValue()) + *slot % slots.getCount() * stride);
        } else {
          CppExpression turn{expression(code, made.getSlot()).within(Precedence::Product) + " % " +
                                 std::to_string(slots.getCount()),
                             Precedence::Product};
          address = sumOf(address, times(turn, stride));
        }
        return emitTileAt(code, op, address, made.getType(), made.getValidRow(),
                          made.getValidCol()),
               true;
      })
      .Case<SubsetOp>([&](SubsetOp made) { return emitWindow(code, made), true; })
      .Case<TReshapeOp, BitcastOp>([&](auto made) {
        if (const CppExpression *known = code.addressOf(made.getSource())) {
          CppExpression address = *known;
          return emitTileAt(code, op, address, made.getType(), made.getValidRow(),
                            made.getValidCol()),
                 true;
        }
        declareTile(code, op, made.getType(), made.getValidRow(), made.getValidCol());
        return code.line(op, "TRESHAPE(" + code.names().of(made) + ", " +
                                 textOf(code, made.getSource()) + ");"),
               true;
      })
      .Case<DeclareTileOp>([&](DeclareTileOp made) {
        return declareTile(code, op, made.getType(), made.getValidRow(), made.getValidCol()), true;
      })
      .Case<SetValidShapeOp>([&](SetValidShapeOp made) {
        return code.line(op, textOf(code, made.getSource()) + ".SetValidShape(" +
                                 textOf(code, made.getValidRow()) + ", " +
                                 textOf(code, made.getValidCol()) + ");"),
               true;
      })
      .Case<TGetValOp>([&](TGetValOp made) {
        return code.line(op, "const " + cppElement(made.getValue().getType()) + " " +
                                 code.names().of(made) + " = " + textOf(code, made.getSource()) +
                                 ".GetValue(" + textOf(code, made.getOffset()) + ");"),
               true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
