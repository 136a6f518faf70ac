// Reads the accesses of instructions, and the values that the compiler recorded for them.
#include "ir/dialect/attributes.h"
#include "passes/prover/read_function.h"

#include "ir/dialect/cross_core.h"
#include "ir/dialect/held_values.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ptl::prove {

// The values that, according to the compiler, an operand holds, or will hold.
uint32_t FunctionReader::heldBy(const pto::Access &access, llvm::ArrayRef<int32_t> values) {
  // Scratch holds nothing that anybody may read.
  if (access.scratch || values.empty())
    return 0;
  // What is written is one value; what is read may be one of several.
  if (access.writes)
    return static_cast<uint32_t>(values.front());
  // Equal sets of values share a number.
  std::vector<int32_t> set(values.begin(), values.end());
  auto [entry, isNew] = held_.try_emplace(set, static_cast<uint32_t>(kernel_.held.size()));
  if (isNew)
    kernel_.held.push_back(std::move(set));
  return entry->second;
}

// ---- where cores meet ---------------------------------------------------------------------------

void FunctionReader::readMeeting(Operation *op) {
  if (isa<pto::SyncWaitOp>(op))
    // Each wait for the other core is a meeting, numbered in the order of the text.
    meetings_.push_back(op);
  else if (attrs::met.isOn(op))
    met_.emplace_back(op, static_cast<int32_t>(meetings_.size()));
}

// Meetings order what reaches global memory on either side of them, whichever came first in the
// program: what the compiler wrote down tells on which side each instruction is. Where loops were
// taken apart, the meetings are no longer those that it counted.
void FunctionReader::judgeMeetings() {
  for (auto [op, before] : met_) {
    auto noted = attrs::met.of(op);
    auto total = static_cast<int32_t>(meetings_.size());
    // The total tells whether the meetings are still those that the compiler counted.
    if (!noted || noted.size() != 2 || noted[1] != total || noted[0] == before)
      continue;
    // These are the meetings that lie between where the instruction is and where it was.
    int32_t first = std::min(noted[0], before), last = std::min(std::max(noted[0], before), total);
    for (const pto::Access &access : pto::accessesOf(op))
      for (int32_t i = first; i < last; ++i) {
        Operation *wait = meetings_[static_cast<size_t>(i)];
        Value root = pto::rootOf(access.value);
        // Only global memory is ordered by meetings.
        if (!isa<pto::PartitionViewType>(access.value.getType()))
          continue;
        auto pointer = dyn_cast<BlockArgument>(root);
        auto name = pointer ? attrs::name.of(op_, pointer.getArgNumber()) : StringAttr();
        Finding *finding = shared_.findings.add(DiagId::PipeHazard, op,
                                                {mnemonic(op), access.writes ? "writes" : "reads",
                                                 name ? name.str() : "an array", mnemonic(wait),
                                                 before < noted[0] ? "to come" : "over",
                                                 ", on the other side of which the program has it"},
                                                wait);
        if (finding)
          finding->related.push_back({wait->getLoc(), "here the cores wait for each other"});
      }
  }
}

// ---- instructions -------------------------------------------------------------------------------

void FunctionReader::readPipe(Operation *op, Pipe pipe, Step &step) {
  step.kind = StepKind::Pipe;
  step.sub = static_cast<uint8_t>(pipe);
  bool atomic = false;
  if (auto kind = op->getAttrOfType<pto::AtomicTypeAttr>("atomicType"))
    atomic = kind.getValue() != pto::AtomicType::atomic_none;
  auto held = pto::heldValues(op);
  // Values are only recorded if there is a list for each operand.
  bool isHeld = held.size() == op->getNumOperands();
  unsigned operand = 0;
  for (const pto::Access &access : pto::accessesOf(op)) { // in the order of the operands
    AccessSpec spec;
    // Accesses leave out operands that are no memory.
    while (isHeld && op->getOperand(operand) != access.value)
      ++operand;
    spec.held = isHeld ? heldBy(access, held[operand++]) : 0;
    spec.value = registerOf(access.value);
    spec.reads = access.reads;
    spec.writes = access.writes;
    spec.scratch = access.scratch;
    // What is no tile lies in global memory.
    spec.memory = !isa<pto::TileBufType>(access.value.getType());
    spec.atomic = atomic && spec.memory;
    step.accesses.push_back(spec);
  }
  // Scalars are operands that decide what the instruction does.
  for (Value operand : op->getOperands())
    if (operand.getType().isIntOrIndex())
      step.args.push_back(registerOf(operand));
  readParts(op, step);
}

// Instructions that touch a part of an operand, at positions that are operands too.
void FunctionReader::readParts(Operation *op, Step &step) {
  // These touch one element, at a position.
  if (isa<pto::TGetValOp, pto::LoadScalarOp, pto::StoreScalarOp>(op)) {
    step.accesses.front().col = registerOf(op->getOperand(1));
    return;
  }
  pto::Instruction instruction(op);
  if (!instruction)
    return;
  // Where a scalar may come first, the result is filled with it before the input is read.
  step.inPlace = instruction.info().has(InstructionInfo::InPlace) &&
                 !instruction.info().has(InstructionInfo::EitherOrder);
  step.inside = shared_.inside(instruction.info().mnemonic, pipeName(static_cast<Pipe>(step.sub)));
  if (instruction.id() == InstructionId::TPrint)
    kernel_.prints.push_back(step.op);
  auto positions = [&](AccessSpec &spec, Value row, Value col, Value extent) {
    spec.row = registerOf(row);
    spec.col = registerOf(col);
    spec.extent = registerOf(extent);
  };
  auto ins = instruction.ins();
  switch (instruction.id()) {
  case InstructionId::TExtract:
    positions(step.accesses.front(), ins[1], ins[2], instruction.outs()[0]);
    break;
  case InstructionId::TInsert:
    positions(step.accesses.back(), ins[1], ins[2], ins[0]);
    // Only the part is replaced, and what surrounds it is not read.
    step.accesses.back().reads = false;
    break;
  case InstructionId::TSetVal:
    step.accesses.back().col = registerOf(ins[0]);
    step.accesses.back().reads = false;
    break;
  default:
    break;
  }
}

} // namespace ptl::prove
