#include "passes/prover/read.h"
#include "passes/prover/rotations.h"

#include "frontend/base/round_up.h"
#include "ir/dialect/attributes.h"
#include "passes/prover/read_function.h"

#include "ir/ops/pipe_names.h"
#include "passes/prover/length.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::prove {

// ---- shared tables ------------------------------------------------------------------------------

int64_t KernelReader::shape(pto::TileBufType type) {
  auto [entry, isNew] = shapes_.try_emplace(type, static_cast<int64_t>(kernel.shapes.size()));
  if (isNew) {
    TileShape shape;
    shape.place = static_cast<uint8_t>(type.getPlace());
    shape.rows = type.getRows();
    shape.cols = type.getCols();
    // A valid length of -1 says that a register holds it.
    shape.validRows = type.getValidRows() == pto::kDynamic ? -1 : type.getValidRows();
    shape.validCols = type.getValidCols() == pto::kDynamic ? -1 : type.getValidCols();
    shape.bytes = type.getBytes();
    shape.elementBytes = pto::elementBytes(type.getElementType());
    const MemorySpace *space = machine.space(std::string_view(ir::placeName(type.getPlace())));
    // Slots of the type lie this far apart.
    shape.stride = roundUp(shape.bytes, space ? space->alignment : 1);
    shape.type = type.getAsOpaquePointer();
    kernel.shapes.push_back(shape);
  }
  return entry->second;
}

uint32_t KernelReader::input(std::string name, Input::Role role, bool boolean) {
  auto [entry, isNew] = inputs_.try_emplace(name, static_cast<uint32_t>(kernel.inputs.size()));
  if (isNew)
    kernel.inputs.push_back({std::move(name), role, boolean});
  return entry->second;
}

uint32_t KernelReader::pointer(StringRef name) {
  auto [entry, isNew] =
      pointers_.try_emplace(name.str(), static_cast<uint32_t>(kernel.pointers.size()));
  if (isNew)
    kernel.pointers.push_back(name.str());
  return entry->second;
}

uint32_t KernelReader::inside(std::string_view mnemonic, std::string_view pipe) {
  const InsideInstruction *found = insideOf(machine.tools.isaMacro, mnemonic, pipe);
  if (!found)
    return kNone;
  auto [entry, isNew] = inside_.try_emplace(found, static_cast<uint32_t>(kernel.inside.size()));
  if (!isNew)
    return entry->second;
  auto number = [](std::string_view name) { return static_cast<uint8_t>(pipeNamed(name)); };
  Inside &inside = kernel.inside.emplace_back();
  inside.scratchPipe = found->scratchPipe.empty() ? kNoPipe : number(found->scratchPipe);
  inside.id = found->id;
  inside.always = found->always;
  for (size_t i = 0; i < found->events.size(); ++i)
    if (!found->events[i].from.empty())
      inside.events.push_back(
          {number(found->events[i].from), number(found->events[i].to), found->isGuarded(i)});
  return entry->second;
}

// The two sides of a queue are the opening operations with the same flags, or the n-th of that
// direction in each function.
uint32_t KernelReader::queue(Operation *op, bool cube, QueueSide side, bool toVector,
                             bool throughGlobal) {
  unsigned order = openedBySide[{cube, toVector}]++, seen = 0;
  for (size_t i = 0; i < kernel.queues.size(); ++i) {
    Queue &queue = kernel.queues[i];
    QueueSide &mine = cube ? queue.cube : queue.vector, &peer = cube ? queue.vector : queue.cube;
    if (queue.toVector != toVector)
      continue;
    bool matches =
        // With flags on both sides these decide. Otherwise the n-th queue of each side and
        // direction belong together.
        side.flagBase >= 0 && peer.flagBase >= 0 ? side.flagBase == peer.flagBase : seen == order;
    ++seen;
    if (matches && mine.op == kNone && peer.op != kNone) {
      // The other side has opened this queue already.
      mine = std::move(side);
      return static_cast<uint32_t>(i);
    }
  }
  Queue queue;
  queue.name = nameOf(op);
  queue.toVector = toVector;
  queue.throughGlobal = throughGlobal;
  (cube ? queue.cube : queue.vector) = std::move(side);
  kernel.queues.push_back(std::move(queue));
  return static_cast<uint32_t>(kernel.queues.size() - 1);
}

// ---- lengths

// A length that is computed from others: it is what its name says, and none where that is negative.
bool FunctionReader::readLength(BlockArgument argument, const std::string &name, Body &prelude,
                                llvm::function_ref<uint32_t(std::string_view)> input) {
  uint32_t op = shared_.operation(op_);
  auto fresh = [&] { return function_.registers++; };
  uint32_t computed = computeLength(name, op, prelude.steps, input, fresh);
  if (computed == kNone)
    return false;
  registers_[argument] = computed;
  // The name says what the length is; executions in which it would be negative are excluded.
  Step zero(StepKind::Calc, Calc::Constant), compare(StepKind::Calc, Calc::Compare);
  zero.op = compare.op = op;
  zero.dst = fresh();
  compare.imm = static_cast<int64_t>(arith::CmpIPredicate::sge);
  compare.args = {computed, zero.dst};
  compare.dst = fresh();
  prelude.steps.insert(prelude.steps.end(), {zero, compare});
  assume(compare.dst, prelude);
  return true;
}

// Reads a relation of lengths that the host has checked before the launch.
void FunctionReader::readRelation(std::string_view relation, Body &prelude,
                                  llvm::function_ref<uint32_t(std::string_view)> input) {
  auto fresh = [&] { return function_.registers++; };
  uint32_t op = shared_.operation(op_);
  size_t first = prelude.steps.size();
  uint32_t holds = computeLength(relation, op, prelude.steps, input, fresh);
  if (holds == kNone)
    return;
  // Numbers in a relation are sizes at which behaviour changes, so they are worth trying.
  for (size_t i = first; i < prelude.steps.size(); ++i)
    if (prelude.steps[i].kind == StepKind::Calc && prelude.steps[i].sub == uint8_t(Calc::Constant))
      kernel_.constants.push_back(prelude.steps[i].imm);
  assume(holds, prelude);
}

// Executions where a condition does not hold are none.
void FunctionReader::assume(uint32_t holds, Body &prelude) {
  Step assume(StepKind::Assume);
  assume.op = shared_.operation(op_);
  assume.args = {holds};
  prelude.steps.push_back(std::move(assume));
}

// ---- modules ------------------------------------------------------------------------------------

std::vector<Kernel> readKernels(ModuleOp module, const Machine &machine, Findings &findings,
                                int64_t group, int64_t groups) {
  std::vector<std::pair<std::string, std::vector<func::FuncOp>>> named;
  for (auto function : module.getOps<func::FuncOp>()) {
    // Only entry functions run by themselves.
    if (function.isExternal() || !function->hasAttr("pto.entry"))
      continue;
    auto name = attrs::kernel.of(function);
    // The functions for the two kinds of cores have the name of their kernel in common.
    std::string key = name ? name.getValue().str() : function.getName().str();
    auto own = llvm::find_if(named, [&](auto &entry) { return entry.first == key; });
    if (own == named.end())
      own = named.insert(named.end(), {key, {}});
    own->second.push_back(function);
  }
  std::vector<Kernel> kernels;
  for (auto &[name, functions] : named) {
    Kernel kernel;
    kernel.name = name;
    kernel.group = group;
    kernel.groups = groups;
    kernel.byHand = attrs::byHand.isOn(module);
    kernel.eventIds = machine.events;
    kernel.crossIds = machine.crossCore.flags;
    kernel.crossReserved = machine.crossCore.reserved;
    kernel.queueFlags = std::max<int64_t>(1, machine.exchange.flagsPerDirection);
    kernel.crossCount = machine.crossCore.countMax;
    // Chips whose cores reach each other's buffers have flags of pipes, the others one hub for all.
    kernel.awaitStopsCore = !machine.exchange.throughBuffer;
    KernelReader shared(kernel, machine, findings);
    // The order of functions in the module does not matter, so results must not depend on it.
    llvm::stable_sort(functions,
                      [](func::FuncOp a, func::FuncOp b) { return a.getName() < b.getName(); });
    for (func::FuncOp op : functions) {
      Function function;
      function.op = op;
      function.cube = pto::isCube(op);
      FunctionReader(shared, function, op).read();
      kernel.functions.push_back(std::move(function));
    }
    // Rotations need all functions, because queues have two sides.
    findRotations(kernel);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

} // namespace ptl::prove
