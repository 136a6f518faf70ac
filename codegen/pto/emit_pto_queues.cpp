#include "codegen/pto/emit_pto_queues.h"

#include "codegen/pto/windows.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

std::string initPipe(PtoCode &code, Operation *op, Value memory, Value local) {
  auto number = [&](llvm::StringRef key) {
    auto attribute = op->getAttrOfType<IntegerAttr>(key);
    // The slot of a queue that is dealt to two cores is half of what the dialect says.
    int64_t value = !attribute ? 0 : key == "slot_size" ? slotStride(op) : attribute.getInt();
    return attribute ? key.str() + " = " + std::to_string(value) : std::string();
  };
  std::string text = "{";
  for (const char *key : {"dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base"})
    if (std::string item = number(key); !item.empty())
      text += (text.size() > 1 ? ", " : "") + item;
  if (auto nosplit = op->getAttrOfType<BoolAttr>("nosplit"))
    text += std::string(", nosplit = ") + (nosplit.getValue() ? "true" : "false");
  text += "} (";
  if (memory)
    text += code.name(memory) + " : " + code.typeOf(memory) + ", ";
  return text + code.name(local) + " : i32) -> !pto.pipe";
}

/// The address of a reservation, once buffers are placed.
std::optional<int64_t> placedBase(ReserveBufferOp made) {
  return made.getBase() ? std::optional<int64_t>(*made.getBase()) : std::nullopt;
}

std::optional<int64_t> placedBase(ImportReservedBufferOp made) {
  std::optional<int64_t> base;
  // The import refers to a reservation of the function for the other kind of core.
  auto peer = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(made, made.getPeerFuncAttr());
  if (peer)
    peer.walk([&](ReserveBufferOp reserved) {
      if (reserved.getName() == made.getName())
        base = placedBase(reserved);
    });
  return base;
}

void emitReservation(PtoCode &code, ReserveBufferOp made) {
  code.line(made, code.result(made) + "pto.reserve_buffer {name = \"" + made.getName().str() +
                      "\", size = " + std::to_string(made.getSize()) +
                      ", location = #pto.address_space<" + made.getLocation().str() +
                      ">, auto = true} -> i32");
}

void emitReservation(PtoCode &code, ImportReservedBufferOp made) {
  code.line(made, code.result(made) + "pto.import_reserved_buffer {name = \"" +
                      made.getName().str() + "\", peer_func = @" +
                      functionName(made.getPeerFunc()) + "} -> i32");
}

} // namespace

bool emitQueue(PtoCode &code, Operation *op) {
  auto split = [](auto made) { return " {split = " + std::to_string(made.getSplit()) + "}"; };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<InitializeL2G2LPipeOp>([&](auto made) {
        code.line(op, code.result(op) + "pto.initialize_l2g2l_pipe " +
                          initPipe(code, op, made.getGmAddr(), made.getLocalAddr()));
        return true;
      })
      .Case<InitializeL2LPipeOp>([&](auto made) {
        code.line(op, code.result(op) + "pto.initialize_l2l_pipe " +
                          initPipe(code, op, {}, made.getLocalAddr()));
        return true;
      })
      // PTOAS takes one reservation and one import per function; where queues are placed, their
      // addresses say as much.
      .Case<ReserveBufferOp, ImportReservedBufferOp>([&](auto made) {
        if (std::optional<int64_t> base = placedBase(made))
          code.line(op, code.result(op) + "arith.constant " + std::to_string(*base) + " : i32");
        else
          emitReservation(code, made);
        return true;
      })
      .Case<TPushOp, TPopOp>([&](auto made) {
        code.line(op, op->getName().getStringRef().str() + "(" + code.names(op->getOperands()) +
                          " : " + code.typed(op->getOperands()) + ")" + split(made));
        return true;
      })
      .Case<TFreeOp>([&](TFreeOp made) {
        code.line(op, "pto.tfree(" + code.name(made.getPipe()) + " : !pto.pipe)" + split(made));
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
