#include "codegen/pto/emit_cpp_order.h"

#include "codegen/pto/cpp_expressions.h"
#include "ir/dialect/cross_core.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

bool emitOrder(CppCode &code, Operation *op) {
  auto pipes = [](auto flag) {
    return stringifyPipeKind(flag.getSrcPipe()).str() + ", " +
           stringifyPipeKind(flag.getDstPipe()).str() + ", ";
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SetFlagOp, WaitFlagOp>([&](auto flag) {
        const char *call = isa<SetFlagOp>(op) ? "set_flag(" : "wait_flag(";
        return code.line(op, call + pipes(flag) + stringifyEventId(flag.getEventId()).str() + ");"),
               true;
      })
      .Case<SetFlagDynOp, WaitFlagDynOp>([&](auto flag) {
        const char *call = isa<SetFlagDynOp>(op) ? "set_flag(" : "wait_flag(";
        return code.line(op,
                         call + pipes(flag) + "event_t(" + textOf(code, flag.getEventId()) + "));"),
               true;
      })
      .Case<SyncSetOp, SyncWaitOp>([&](auto event) {
        code.useHelper("coreEvents");
        const char *other = isCube(code.function()) ? "VectorCores" : "CubeCore";
        return code.line(op, (isa<SyncSetOp>(op) ? "signal" : "waitFor") + std::string(other) +
                                 "<" + stringifyPipeKind(event.getPipe()).str() + ">(" +
                                 textOf(code, event.getEventId()) + ");"),
               true;
      })
      .Case<BarrierOp>([&](BarrierOp barrier) {
        return code.line(op, "pipe_barrier(" + stringifyPipeKind(barrier.getPipe()).str() + ");"),
               true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
