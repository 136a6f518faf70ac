#include "codegen/pto/emit_pto_order.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// PTOAS takes computed ids where each vector core has ids of its own; elsewhere each has a branch.
void emitCrossing(PtoCode &code, Operation *op, const std::string &text, Value id) {
  auto ids = attrs::ids.of(op); // first, and how many
  // A constant id needs no choice.
  if (std::optional<int64_t> number = getConstantIntValue(id))
    return code.line(op, text + std::to_string(*number));
  if (code.machine().exchange.throughBuffer || !ids)
    return code.line(op, text + code.name(id));
  int64_t last = ids[0] + ids[1] - 1;
  // The ids are tried one by one in nested branches; the last needs no comparison.
  for (int64_t each = ids[0]; each < last; ++each) {
    std::string is = code.fresh("is_event");
    code.line(op, is + " = arith.cmpi eq, " + code.name(id) + ", " + code.indexConstant(each) +
                      " : index");
    code.body().add("scf.if " + is + " {", placeOf(op));
    code.body().indent(2);
    code.line(op, text + std::to_string(each));
    code.body().dedent(2);
    code.body().add("} else {", placeOf(op));
    code.body().indent(2);
  }
  code.line(op, text + std::to_string(last));
  // One closing brace for each branch.
  for (int64_t each = ids[0]; each < last; ++each) {
    code.body().dedent(2);
    code.line(op, "}");
  }
}

/// Where cores reach each other's buffers, each vector core has ids of its own: the cube core waits
/// for both. PTOAS signals both itself, but only from FIX.
void emitCrossing(PtoCode &code, Operation *op, PipeKind pipe, Value id) {
  bool sets = isa<SyncSetOp>(op);
  std::string text =
      op->getName().getStringRef().str() + " <" + stringifyPipeKind(pipe).str() + ">, ";
  emitCrossing(code, op, text, id);
  if (!code.machine().exchange.throughBuffer)
    return;
  // PTOAS emits these events from and to some pipes only.
  if (sets ? pipe != PipeKind::PIPE_FIX && pipe != PipeKind::PIPE_MTE3
           : pipe == PipeKind::PIPE_S || pipe == PipeKind::PIPE_M)
    code.missing(op, "this version of PTOAS has no event between cores " +
                         std::string(sets ? "from" : "to") + " the pipe `" +
                         std::string(pipeName(pipeOf(pipe))) + "` of `" + code.machine().name +
                         "`");
  // For such queues the second vector core does not run, so it would never answer.
  if (hasWholeTileQueues(code.function()))
    code.missing(op,
                 "an event between cores beside a queue of whole tiles, for which only the first "
                 "vector core of `" +
                     code.machine().name + "` runs");
  bool cube = isCube(code.function());
  // Vector cores signal for themselves, and PTOAS already signals both cores from FIX.
  if (!cube || (sets && pipe == PipeKind::PIPE_FIX))
    return;
  // The ids of the second vector core follow those of the first.
  int64_t flags = code.machine().crossCore.flags;
  if (std::optional<int64_t> number = getConstantIntValue(id))
    return code.line(op, text + std::to_string(*number + flags));
  std::string other = code.fresh("other_core");
  code.line(op, other + " = arith.addi " + code.name(id) + ", " + code.indexConstant(flags) +
                    " : index");
  code.line(op, text + other);
}

template <typename FlagOp> std::string pipes(FlagOp flag) {
  return "[<" + stringifyPipeKind(flag.getSrcPipe()).str() + ">, <" +
         stringifyPipeKind(flag.getDstPipe()).str() + ">, ";
}

} // namespace

bool emitOrder(PtoCode &code, Operation *op) {
  std::string mnemonic = op->getName().getStringRef().str();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SetFlagOp, WaitFlagOp>([&](auto flag) {
        code.line(op,
                  mnemonic + pipes(flag) + "<" + stringifyEventId(flag.getEventId()).str() + ">]");
        return true;
      })
      .Case<SetFlagDynOp, WaitFlagDynOp>([&](auto flag) {
        code.line(op, mnemonic + pipes(flag) + code.name(flag.getEventId()) + "]");
        return true;
      })
      .Case<SyncSetOp, SyncWaitOp>([&](auto event) {
        return emitCrossing(code, op, event.getPipe(), event.getEventId()), true;
      })
      .Case<BarrierOp>([&](BarrierOp barrier) {
        code.line(op, "pto.barrier <" + stringifyPipeKind(barrier.getPipe()).str() + ">");
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
