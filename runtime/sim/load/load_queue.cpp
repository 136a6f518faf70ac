// Queues between the functions of a kernel.
#include "runtime/sim/load/function_loader.h"

using namespace mlir;

namespace ptl::rt::sim {

/// The queue of an initialisation: the one that the other function has made, or a new one.
int32_t FunctionLoader::queueFor(Operation *op, int64_t direction,
                                 std::optional<int64_t> flagBase) {
  for (size_t i = 0; i < keys_.size(); ++i) {
    QueueKey &key = keys_[i];
    Operation *&mine = function_.cube ? key.inCube : key.inVector;
    bool sameFlags = !key.flagBase || !flagBase || *key.flagBase == *flagBase;
    if (mine || key.direction != direction || !sameFlags)
      continue;
    mine = op;
    return static_cast<int32_t>(i);
  }
  QueueKey key{direction, flagBase};
  (function_.cube ? key.inCube : key.inVector) = op;
  keys_.push_back(key);
  kernel_.queues.emplace_back();
  return static_cast<int32_t>(keys_.size() - 1);
}

template <typename InitOp> bool FunctionLoader::initQueue(InitOp op, bool throughGlobal) {
  // One direction is a queue; both would be two that share a name, and their slots.
  int64_t direction = op.getDirMask();
  if (direction != 1 && direction != 2)
    return fail(op, "has to have one direction");
  std::optional<int64_t> flagBase;
  if (auto base = op.getFlagBase())
    flagBase = *base;
  int32_t index = queueFor(op, direction, flagBase);
  Queue queue = kernel_.queues[static_cast<size_t>(index)];
  queue.toVector = direction == 1;
  queue.throughGlobal = throughGlobal;
  queue.slotBytes = op.getSlotSize();
  queue.slots = op.getSlotNum();
  if (auto local = op.getLocalSlotNum())
    queue.localSlots = *local;
  else if (throughGlobal)
    return fail(op, "lacks its `local_slot_num`");
  if (queue.slots <= 0 || (throughGlobal && queue.localSlots <= 0))
    return fail(op, "has no slots");
  kernel_.queues[static_cast<size_t>(index)] = queue;
  queues_[op.getPipe()] = index;
  Step &step = add(StepKind::InitQueue, op);
  step.queue = index;
  for (Value operand : op->getOperands())
    step.operands.push_back(registerOf(operand));
  return true;
}

/// Notes the type of a popped tile, from which the producer knows the layout of what it pushes into
/// the consumer's memory. It is the pop with the number of the push, where both sides go through
/// the queue in the order of the program.
bool FunctionLoader::notePop(pto::TPopOp pop, Queue &queue) {
  Tile tile;
  if (!tileOf(pop, pop.getTile().getType(), tile))
    return false;
  queue.popped.push_back(tile);
  return true;
}

bool FunctionLoader::loadReserved(Operation *op) {
  // An import is the address that the function of the other core has reserved: both speak of the
  // same bytes.
  auto own = dyn_cast<pto::ReserveBufferOp>(op);
  if (auto import = dyn_cast<pto::ImportReservedBufferOp>(op)) {
    auto peer = func_->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(import.getPeerFunc());
    if (peer)
      peer.walk([&](pto::ReserveBufferOp reserve) {
        if (reserve.getName() == import.getName())
          own = reserve;
      });
    if (!own)
      return fail(op, "names a buffer that the other function does not reserve");
  }
  if (!own.getBase())
    return fail(op, "is a buffer without an address");
  add(StepKind::Constant, op, {}).constant.i = *own.getBase();
  return true;
}

bool FunctionLoader::loadQueueOp(Operation *op, bool &known) {
  known = true;
  if (auto init = dyn_cast<pto::InitializeL2G2LPipeOp>(op))
    return initQueue(init, true);
  if (auto init = dyn_cast<pto::InitializeL2LPipeOp>(op))
    return initQueue(init, false);
  if (isa<pto::ReserveBufferOp, pto::ImportReservedBufferOp>(op))
    return loadReserved(op);
  auto push = dyn_cast<pto::TPushOp>(op);
  auto pop = dyn_cast<pto::TPopOp>(op);
  auto free = dyn_cast<pto::TFreeOp>(op);
  known = push || pop || free;
  if (!known)
    return true;
  Value handle = push ? push.getPipe() : pop ? pop.getPipe() : free.getPipe();
  auto found = queues_.find(handle);
  if (found == queues_.end())
    return fail(op, "has a queue that is not made in this function");
  Queue &queue = kernel_.queues[static_cast<size_t>(found->second)];
  if (pop && !notePop(pop, queue))
    return false;
  // The cube core pushes to the vector cores and pops from them; the other function does the
  // opposite.
  if ((push != nullptr) != (function_.cube == queue.toVector))
    return fail(op, "is at the wrong end of its queue");
  Step &step = add(push ? StepKind::Push : pop ? StepKind::Pop : StepKind::Free, op);
  if (!free)
    step.operands.push_back(registerOf(push ? push.getTile() : pop.getTile()));
  step.queue = found->second;
  step.split = static_cast<uint8_t>(push  ? push.getSplit()
                                    : pop ? pop.getSplit()
                                          : free.getSplit());
  // A slot is free once the loads that read it are done, so it is given back in the order of their
  // pipe.
  step.pipe = free ? Pipe::MTE2 : *pto::pipeOf(op);
  queue.split = std::max(queue.split, step.split);
  if (push)
    step.number = queue.pushes++;
  return true;
}

} // namespace ptl::rt::sim
