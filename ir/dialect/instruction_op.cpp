// Tile instructions: one operation per record, with one spelling for all.
#include "ir/dialect/instruction_op.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/held_values.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ptl::pto {

// A second row of the table may share the tiles of an instruction's outputs only by number, so the
// split between inputs and outputs follows from the table: outputs are the last operands.
static void printInstruction(Operation *op, OpAsmPrinter &printer, const InstructionInfo &info) {
  unsigned numIns = op->getNumOperands() - static_cast<unsigned>(info.numOuts());
  auto list = [&](llvm::StringRef word, OperandRange operands, bool withAttributes) {
    printer << ' ' << word << '(';
    printer.printOperands(operands);
    if (withAttributes)
      // What the compiler notes for itself is no part of the text.
      printer.printOptionalAttrDict(op->getAttrs(), {attrs::held, attrs::met});
    printer << " : ";
    llvm::interleaveComma(operands.getTypes(), printer);
    printer << ')';
  };
  bool inside = info.has(InstructionInfo::AttrsInside);
  if (numIns)
    list("ins", op->getOperands().take_front(numIns), inside);
  if (info.numOuts())
    list("outs", op->getOperands().drop_front(numIns), false);
  if (!inside)
    printer.printOptionalAttrDict(op->getAttrs(), {attrs::held, attrs::met});
}

static ParseResult parseList(OpAsmParser &parser, OperationState &state) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<Type> types;
  if (parser.parseLParen() || parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonTypeList(types) ||
      parser.parseRParen())
    return failure();
  return parser.resolveOperands(operands, types, parser.getCurrentLocation(), state.operands);
}

static ParseResult parseInstruction(OpAsmParser &parser, OperationState &state) {
  if (succeeded(parser.parseOptionalKeyword("ins")) && parseList(parser, state))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("outs")) && parseList(parser, state))
    return failure();
  return parser.parseOptionalAttrDict(state.attributes);
}

static LogicalResult verifyOperand(Operation *op, Type type, char letter) {
  bool tile = isa<TileBufType>(type), view = isa<PartitionViewType>(type);
  // Letters of the table: `t` and `x` are tiles, `v` is a view, and anything else is a scalar.
  bool legal = letter == 't' || letter == 'x' ? tile : letter == 'v' ? view : !tile && !view;
  if (!legal)
    return op->emitOpError("has an operand of type ")
           << type << " where it takes a "
           << (letter == 'v'                    ? "view"
               : letter == 't' || letter == 'x' ? "tile"
                                                : "scalar");
  return success();
}

static LogicalResult verifyInstruction(Operation *op, const InstructionInfo &info) {
  if (op->getNumResults() || op->getNumRegions() || op->getNumSuccessors())
    return op->emitOpError("has neither results, regions nor successors");
  size_t numOuts = info.numOuts(), numOperands = op->getNumOperands();
  if (numOperands < info.minIns() + numOuts || numOperands > info.maxIns() + numOuts)
    return op->emitOpError("takes ")
           << info.minIns() << " to " << info.maxIns() << " inputs and " << numOuts << " outputs";
  for (size_t i = 0; i < numOuts; ++i)
    if (failed(verifyOperand(
            op, op->getOperand(static_cast<unsigned>(numOperands - numOuts + i)).getType(),
            InstructionInfo::letter(info.outs, i))))
      return failure();
  if (numOperands !=
      info.maxIns() + numOuts) // which optional inputs are there follows from their types
    return success();
  bool turned =
      // Some instructions take their two inputs in either order.
      info.has(InstructionInfo::EitherOrder) && !isa<TileBufType>(op->getOperand(0).getType());
  for (size_t i = 0; i < info.maxIns(); ++i)
    if (failed(
            verifyOperand(op, op->getOperand(static_cast<unsigned>(i)).getType(),
                          InstructionInfo::letter(info.ins, turned ? info.maxIns() - 1 - i : i))))
      return failure();
  return success();
}

namespace {
// What an instruction reads and writes, for MLIR's analyses.
struct InstructionEffects
    : MemoryEffectOpInterface::ExternalModel<InstructionEffects, DynamicOpDefinition> {
  void getEffects(
      Operation *op,
      llvm::SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) const {
    for (const Access &access : accessesOf(op)) {
      auto operand =
          llvm::find_if(op->getOpOperands(), [&](OpOperand &o) { return o.get() == access.value; });
      if (access.reads || access.scratch)
        effects.emplace_back(MemoryEffects::Read::get(), operand);
      if (access.writes || access.scratch)
        effects.emplace_back(MemoryEffects::Write::get(), operand);
    }
    // Without an output an instruction is there for an effect outside, such as a print, and must not
    // be removed as dead.
    bool writes = llvm::any_of(
        effects, [](const auto &effect) { return isa<MemoryEffects::Write>(effect.getEffect()); });
    if (!writes)
      effects.emplace_back(MemoryEffects::Write::get());
  }
};
} // namespace

static const InstructionInfo *infoOf(Operation *op) {
  if (!isa_and_nonnull<PtoDialect>(op->getDialect()))
    return nullptr;
  static const auto byName = [] {
    llvm::StringMap<const InstructionInfo *> map;
    for (const InstructionInfo &info : instructions)
      map.try_emplace(info.mnemonic, &info); // the first row of a mnemonic
    return map;
  }();
  return byName.lookup(op->getName().stripDialect());
}

// Instructions share their behaviour, so each is a dynamic operation made from its record. A class
// for each (`mlir::Op`) is a third of a minute of compile time for nothing that anyone would read.
void PtoDialect::registerInstructions() {
  for (InstructionId id : {
#define PTL_INSTRUCTION(ID, MNEMONIC) InstructionId::ID,
#include "ir/ops/instruction_ids.inc"
#undef PTL_INSTRUCTION
       }) {
    const InstructionInfo &info = instructionInfo(id);
    registerDynamicOp(DynamicOpDefinition::get(
        operationName(id).split('.').second, this,
        [&info](Operation *op) { return verifyInstruction(op, info); },
        [](Operation *) { return success(); }, parseInstruction,
        [&info](Operation *op, OpAsmPrinter &printer, llvm::StringRef) {
          printer << op->getName();
          printInstruction(op, printer, info);
        }));
    RegisteredOperationName::lookup(operationName(id), getContext())
        ->attachInterface<InstructionEffects>();
  }
}

llvm::StringRef operationName(InstructionId id) {
  static constexpr llvm::StringLiteral names[] = {
#define PTL_INSTRUCTION(ID, MNEMONIC) "pto." MNEMONIC,
#include "ir/ops/instruction_ids.inc"
#undef PTL_INSTRUCTION
  };
  return names[static_cast<size_t>(id)];
}

// ---- reading ------------------------------------------------------------------------------------

Instruction::Instruction(Operation *op) : op_(op), info_(infoOf(op)) {}

OperandRange Instruction::outs() const {
  return op_->getOperands().take_back(static_cast<unsigned>(info_->numOuts()));
}
OperandRange Instruction::ins() const {
  return op_->getOperands().drop_back(static_cast<unsigned>(info_->numOuts()));
}

// With optional inputs left out, a scratch tile is still the last of the letters that fit, so the
// letters are matched from the left and optional ones are skipped while more letters than operands
// remain.
bool Instruction::isScratch(unsigned index) const {
  size_t missing = info_->maxIns() - ins().size();
  unsigned operand = 0;
  llvm::StringRef spec(info_->ins.data(), info_->ins.size());
  for (size_t i = 0; i < spec.size(); ++i) {
    if (spec[i] == '?')
      continue;
    bool optional = i + 1 < spec.size() && spec[i + 1] == '?';
    if (optional && missing) {
      --missing;
      continue;
    }
    if (operand++ == index)
      return spec[i] == 'x';
  }
  return false;
}

static std::optional<ir::Place> placeOf(Value value) {
  if (auto tile = dyn_cast<TileBufType>(value.getType()))
    return tile.getPlace();
  return std::nullopt;
}

// Pipes of moves, by the places of source and destination (PTO-ISA).
static Pipe pipeOfMove(std::optional<ir::Place> from, std::optional<ir::Place> to) {
  using ir::Place;
  // The accumulator has a pipe of its own, whatever the destination.
  if (from == Place::Acc)
    return Pipe::FIX;
  if (from == Place::Mat)
    return to == Place::Scale ? Pipe::FIX : to == Place::Vec ? Pipe::V : Pipe::MTE1;
  if (from == Place::Vec && to == Place::Mat)
    return Pipe::FIX;
  return Pipe::V;
}

Pipe Instruction::pipe() const {
  // Most instructions always run on one pipe.
  if (info_->pipeRule == PipeRule::Fixed)
    return info_->pipe;
  Value source = ins().front();
  std::optional<ir::Place> to = outs().empty() ? std::nullopt : placeOf(outs().front());
  switch (info_->pipeRule) {
  case PipeRule::OfStore:
    // Results of products leave by FIX, other tiles by MTE3.
    return placeOf(source) == ir::Place::Acc ? Pipe::FIX : Pipe::MTE3;
  case PipeRule::OfFill:
    return to == ir::Place::Mat ? Pipe::MTE2 : Pipe::V;
  default:
    return pipeOfMove(placeOf(source), to);
  }
}

Operation *emitInstruction(OpBuilder &builder, Location loc, InstructionId id, ValueRange ins,
                           ValueRange outs, llvm::ArrayRef<NamedAttribute> attributes) {
  OperationState state(loc, operationName(id));
  state.addOperands(ins);
  state.addOperands(outs);
  state.addAttributes(attributes);
  return builder.create(state);
}

llvm::SmallVector<Access, 4> accessesOf(Operation *op) {
  llvm::SmallVector<Access, 4> accesses;
  auto isMemory = [](Value value) { return isa<TileBufType, PartitionViewType>(value.getType()); };
  if (Instruction instruction(op); instruction) {
    // A scratch tile is written, but nobody reads what is left in it.
    for (auto [index, value] : llvm::enumerate(instruction.ins()))
      if (isMemory(value)) {
        bool scratch = instruction.isScratch(static_cast<unsigned>(index));
        accesses.push_back({value, !scratch, false, scratch});
      }
    bool atomic = false;
    if (auto kind = op->getAttrOfType<AtomicTypeAttr>("atomicType"))
      atomic = kind.getValue() != AtomicType::atomic_none;
    // An atomic store also reads what it adds to.
    for (Value value : instruction.outs())
      accesses.push_back(
          {value, atomic || instruction.info().has(InstructionInfo::ReadsOut), true});
    return accesses;
  }
  if (auto push = dyn_cast<TPushOp>(op))
    accesses.push_back({push.getTile(), true, false});
  else if (auto pop = dyn_cast<TPopOp>(op))
    accesses.push_back({pop.getTile(), false, true});
  else if (auto value = dyn_cast<TGetValOp>(op))
    accesses.push_back({value.getSource(), true, false});
  else if (auto load = dyn_cast<LoadScalarOp>(op))
    accesses.push_back({load.getPointer(), true, false});
  else if (auto store = dyn_cast<StoreScalarOp>(op))
    accesses.push_back({store.getPointer(), false, true});
  return accesses;
}

std::optional<Pipe> pipeOf(Operation *op) {
  if (Instruction instruction(op); instruction)
    return instruction.pipe();
  if (auto push = dyn_cast<TPushOp>(op))
    return push.getTile().getType().getPlace() == ir::Place::Acc ? Pipe::FIX : Pipe::MTE3;
  if (isa<TPopOp>(op))
    return Pipe::MTE2;
  if (isa<TGetValOp, LoadScalarOp, StoreScalarOp>(op))
    return Pipe::S;
  return std::nullopt;
}

Value rootOf(Value value) {
  // Views and windows share the memory of what they are made of.
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<SubsetOp, TReshapeOp, BitcastOp, PartitionViewOp, MakeTensorViewOp, AddPtrOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace ptl::pto
