#include "passes/prover/read_function.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ptl::prove {

static std::optional<Calc> calcOf(Operation *op) {
  return llvm::StringSwitch<std::optional<Calc>>(op->getName().getStringRef())
      .Case("arith.addi", Calc::Add)
      .Case("arith.subi", Calc::Sub)
      .Case("arith.muli", Calc::Mul)
      .Case("arith.divsi", Calc::Div)
      .Case("arith.divui", Calc::DivUnsigned)
      .Case("arith.ceildivsi", Calc::CeilDiv)
      .Case("arith.ceildivui", Calc::CeilDivUnsigned)
      .Case("arith.floordivsi", Calc::FloorDiv)
      .Case("arith.remsi", Calc::Rem)
      .Case("arith.remui", Calc::RemUnsigned)
      .Case("arith.minsi", Calc::Min)
      .Case("arith.maxsi", Calc::Max)
      .Case("arith.minui", Calc::MinUnsigned)
      .Case("arith.maxui", Calc::MaxUnsigned)
      .Case("arith.andi", Calc::And)
      .Case("arith.ori", Calc::Or)
      .Case("arith.xori", Calc::Xor)
      .Case("arith.shli", Calc::Shl)
      .Case("arith.shrsi", Calc::Shr)
      .Case("arith.shrui", Calc::ShrUnsigned)
      .Case("arith.cmpi", Calc::Compare)
      .Case("arith.select", Calc::Select)
      // Registers have 64 bits, so these casts copy; what drops bits is `Truncate`.
      .Cases("arith.index_cast", "arith.index_castui", "arith.extsi", Calc::Copy)
      .Case("arith.extui", Calc::Truncate)
      .Case("arith.trunci", Calc::TruncateSigned)
      .Default(std::nullopt);
}

static int64_t integerOf(Attribute attribute) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  if (!number)
    return 0;
  const llvm::APInt &value = number.getValue();
  // A true `i1` would be -1 with its sign extended.
  return value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue())
                                  : value.getSExtValue();
}

// ---- functions ----------------------------------------------------------------------------------

uint32_t FunctionReader::registerOf(Value value) {
  auto [entry, isNew] = registers_.try_emplace(value, function_.registers);
  if (isNew)
    ++function_.registers;
  return entry->second;
}

std::vector<uint32_t> FunctionReader::registersOf(ValueRange values) {
  std::vector<uint32_t> registers;
  for (Value value : values)
    registers.push_back(registerOf(value));
  return registers;
}

void FunctionReader::read() {
  function_.bodies.emplace_back();
  Body prelude;
  std::map<std::string, uint32_t, std::less<>> named; // names of arguments and in their names
  auto input = [&](std::string_view name) {
    auto [entry, isNew] = named.try_emplace(std::string(name), function_.registers);
    if (isNew) {
      Step step(StepKind::Input);
      step.op = shared_.operation(op_);
      step.dst = function_.registers++;
      step.imm = shared_.input(entry->first, Input::Size);
      prelude.steps.push_back(std::move(step));
    }
    return entry->second;
  };
  for (BlockArgument argument : op_.getArguments()) {
    std::string name = "%arg" + std::to_string(argument.getArgNumber());
    // Inputs match by name, so one length of both functions is one choice.
    if (auto given = attrs::name.of(op_, argument.getArgNumber()))
      name = given.getValue().str();
    auto formula = attrs::formula.of(op_, argument.getArgNumber());
    if (formula)
      name = formula.str();
    // A length that is a formula of other names is no input of its own.
    if (argument.getType().isIntOrIndex() && readLength(argument, name, prelude, input))
      continue;
    Step step(isa<pto::PtrType>(argument.getType()) ? StepKind::Pointer : StepKind::Input);
    step.op = shared_.operation(op_);
    step.dst = registerOf(argument);
    if (step.kind == StepKind::Pointer) {
      step.imm = shared_.pointer(name);
    } else if (argument.getType().isIntOrIndex()) {
      named.try_emplace(name, step.dst);
      step.imm = shared_.input(name, Input::Size, argument.getType().isInteger(1));
    } else {
      step.kind = StepKind::Calc;
    }
    prelude.steps.push_back(step);
  }
  if (auto checked = attrs::checked.of(op_))
    for (auto relation : checked.getAsRange<StringAttr>())
      readRelation(relation.getValue(), prelude, input);
  uint32_t body = readBody(op_.getBody(), true);
  Body &whole = function_.bodies[body];
  // Arguments get their values before the first operation runs.
  whole.steps.insert(whole.steps.begin(), prelude.steps.begin(), prelude.steps.end());
  std::swap(function_.bodies[0], whole);
  judgeMeetings();
}

/// Whether a step is scalar code on elements, which no other pipe can come between.
static bool isOfElements(const Step &step) {
  switch (step.kind) {
  case StepKind::Calc:
  case StepKind::Input:
  case StepKind::Alias:
  case StepKind::MultiGet:
  case StepKind::View:
  case StepKind::Box:
  case StepKind::Pointer:
  case StepKind::AddPointer:
  case StepKind::For:
  case StepKind::If:
  case StepKind::Yield:
    return true;
  case StepKind::Pipe:
    return step.sub == static_cast<uint8_t>(Pipe::S) && step.inside == kNone;
  default:
    return false;
  }
}

uint32_t FunctionReader::readBody(Region &region, bool isFunction) {
  Body body;
  if (region.empty()) {
    function_.bodies.push_back(std::move(body));
    return static_cast<uint32_t>(function_.bodies.size() - 1);
  }
  // The reader follows structured control flow only: loops, branches and while.
  if (!region.hasOneBlock())
    shared_.findings.undecided(region.getParentOp(), "control flow that is not structured");
  if (!isFunction)
    body.parameters = registersOf(region.front().getArguments());
  for (Operation &op : region.front())
    readOp(&op, body);
  for (const Step &step : body.steps) {
    body.ofElements &= isOfElements(step);
    kernel_.size += step.kind >= StepKind::Pipe && step.kind <= StepKind::Free;
  }
  function_.bodies.push_back(std::move(body));
  return static_cast<uint32_t>(function_.bodies.size() - 1);
}

void FunctionReader::readOp(Operation *op, Body &body) {
  if (isa<func::ReturnOp>(op))
    return;
  readMeeting(op);
  Step step(StepKind::Calc);
  step.op = shared_.operation(op);
  if (op->getNumResults() == 1)
    step.dst = registerOf(op->getResult(0));
  if (readControl(op, step, body)) {
    body.steps.push_back(std::move(step));
    return;
  }
  if (isa<pto::TrapOp>(op)) {
    step.kind = StepKind::Stop;
    body.steps.push_back(std::move(step));
    return;
  }
  if (readQueue(op, step)) {
    body.hasQueue |= step.kind != StepKind::Open;
  } else if (auto pipe = pto::pipeOf(op)) {
    // The result of an instruction is data, and gets a step of its own behind it.
    step.dst = kNone;
    readPipe(op, *pipe, step);
    body.steps.push_back(std::move(step));
    if (op->getNumResults() == 1)
      readData(op, op->getResult(0), body);
    return;
  } else if (!readScalar(op, step) && !readTile(op, step) && !readView(op, step) &&
             !readSync(op, step)) {
    // A scalar without effects that the reader cannot compute is taken as data.
    if (op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op)) {
      readData(op, op->getResult(0), body);
      return;
    }
    shared_.findings.undecided(op,
                               "`" + op->getName().getStringRef().str() + "` cannot be followed");
    // The results need values even so, or later steps would read undefined registers.
    for (Value result : op->getResults())
      readData(op, result, body);
    return;
  }
  body.hasQueue |= step.kind == StepKind::Signal || step.kind == StepKind::Await;
  body.steps.push_back(std::move(step));
}

// A value that the scalar code gets from data: instances choose it.
void FunctionReader::readData(Operation *op, Value result, Body &body) {
  Step step(StepKind::Calc);
  step.op = shared_.operation(op);
  step.dst = registerOf(result);
  if (result.getType().isIntOrIndex()) {
    step.kind = StepKind::Input;
    step.sub = 1;
    step.imm = shared_.input(keyOf(result), Input::Data, result.getType().isInteger(1));
  }
  body.steps.push_back(std::move(step));
}

// A text that is equal for values that are computed alike in both functions.
std::string FunctionReader::keyOf(Value value, unsigned depth) {
  // The limit bounds the text, which grows exponentially where values are reused.
  if (depth > 12)
    return "…";
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // The function's arguments are those of both functions; a loop's are known by position.
    if (argument.getOwner() == &op_.getBody().front())
      return "a" + std::to_string(argument.getArgNumber());
    return "i" + std::to_string(argument.getArgNumber());
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = getConstantIntValue(value))
    return std::to_string(*constant);
  // A tile is one of this core, wherever it lies.
  if (isa<pto::AllocTileOp, pto::AllocMultiTileOp>(op))
    return (function_.cube ? "c" : "v") + std::to_string(registerOf(value));
  std::string key = mnemonic(op) + "(";
  llvm::raw_string_ostream text(key);
  // Predicates and constants are attributes, so they are part of what is computed.
  for (const char *name : {"value", "predicate"})
    if (Attribute attribute = op->getAttr(name))
      text << attribute << ",";
  for (Value operand : op->getOperands())
    text << keyOf(operand, depth + 1) << ",";
  // Each such operation with effects gives a value of its own.
  if (op->getNumOperands() == 0 && !isPure(op))
    text << registerOf(value);
  return key + ")";
}

// ---- scalar code --------------------------------------------------------------------------------

/// Reads a query for the number of the core, or for how many cores there are.
bool FunctionReader::readCore(Operation *op, Step &step) {
  if (isa<pto::GetBlockIdxOp, pto::GetBlockNumOp>(op) && !kernel_.byHand) {
    bool counts = isa<pto::GetBlockNumOp>(op);
    // Which core group runs the kernel is an input that the instances choose, for code of the
    // compiler.
    step.kind = StepKind::Input;
    step.sub = 0;
    step.imm =
        shared_.input(counts ? "core groups" : "core group", counts ? Input::Groups : Input::Group);
  } else if (isa<pto::GetBlockIdxOp, pto::GetBlockNumOp>(op)) {
    step.sub = static_cast<uint8_t>(Calc::Constant);
    step.imm = isa<pto::GetBlockNumOp>(op) ? kernel_.groups : kernel_.group;
  } else if (isa<pto::GetSubBlockNumOp>(op)) {
    step.sub = static_cast<uint8_t>(Calc::Constant);
    // A cube core has two vector cores beside it.
    step.imm = 2;
  } else if (isa<pto::GetSubBlockIdxOp>(op)) {
    step.kind = StepKind::SubBlock;
    function_.usesSubBlock = true;
  } else {
    return false;
  }
  return true;
}

bool FunctionReader::readScalar(Operation *op, Step &step) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    step.sub = static_cast<uint8_t>(Calc::Constant);
    // A constant that is no integer has no value for the prover, and reads as 0.
    step.imm = integerOf(constant.getValue());
    return true;
  }
  if (auto check = dyn_cast<ir::CheckOp>(op)) {
    step.kind = StepKind::Assume;
    step.args = {registerOf(check.getCondition())};
    return true;
  }
  if (readCore(op, step))
    return true;
  if (auto reserve = dyn_cast<pto::ReserveBufferOp>(op)) {
    step.sub = static_cast<uint8_t>(Calc::Constant);
    // An address that is not assigned yet is reported with the queue that uses it.
    step.imm = reserve.getBase() ? *reserve.getBase() : 0;
    return true;
  }
  if (isa<pto::ImportReservedBufferOp>(op)) {
    // This side does not compute with the peer's address; the queue knows it (`reserveOf`).
    step.sub = static_cast<uint8_t>(Calc::Constant);
    return true;
  }
  auto calc = calcOf(op);
  if (!calc || (!op->getResult(0).getType().isIntOrIndex() && *calc != Calc::Select))
    return false;
  step.sub = static_cast<uint8_t>(*calc);
  step.args = registersOf(op->getOperands());
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    step.imm = static_cast<int64_t>(compare.getPredicate());
    // Instances try values around the constants that code compares with.
    for (Value operand : op->getOperands())
      if (auto constant = getConstantIntValue(operand))
        kernel_.constants.push_back(*constant);
  }
  if (*calc == Calc::Truncate || *calc == Calc::TruncateSigned) {
    // Zero extension keeps the bits of the narrow operand, truncation those of the narrow result.
    Type narrow =
        isa<arith::ExtUIOp>(op) ? op->getOperand(0).getType() : op->getResult(0).getType();
    step.imm = static_cast<int64_t>(narrow.isIndex() ? 64 : narrow.getIntOrFloatBitWidth());
  }
  if (*calc == Calc::Rem || *calc == Calc::RemUnsigned)
    // A remainder by a small constant picks a slot of a ring, so the loop around it rotates.
    if (auto modulus = getConstantIntValue(op->getOperand(1))) {
      kernel_.constants.push_back(*modulus);
      step.rotates = *modulus <= 8 ? *modulus : 0;
    }
  if (*calc == Calc::And)
    if (auto mask = getConstantIntValue(op->getOperand(1));
        // A mask of 2^n - 1 is a remainder by 2^n.
        mask && *mask < 8 && ((*mask + 1) & *mask) == 0)
      step.rotates = *mask + 1;
  return true;
}

// ---- tiles and views ----------------------------------------------------------------------------

template <typename AliasOp> void FunctionReader::readAlias(AliasOp op, Step &step) {
  step.kind = StepKind::Alias;
  step.imm = shape(op.getResult().getType());
  step.args = {registerOf(op.getSource()), optional(op.getValidRow()), optional(op.getValidCol())};
}

bool FunctionReader::readTile(Operation *op, Step &step) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op)) {
    step.kind = StepKind::Alloc;
    step.imm = shape(alloc.getType());
    step.args = {optional(alloc.getAddr()), optional(alloc.getValidRow()),
                 optional(alloc.getValidCol())};
    if (!alloc.getAddr())
      shared_.findings.undecided(op, "`" + nameOf(op) + "` has no address");
  } else if (auto multi = dyn_cast<pto::AllocMultiTileOp>(op)) {
    // The address is the value; each slot is made where it is taken.
    step.kind = StepKind::Calc;
    step.sub = static_cast<uint8_t>(multi.getAddr() ? Calc::Copy : Calc::Constant);
    if (multi.getAddr())
      step.args = {registerOf(multi.getAddr())};
    else
      shared_.findings.undecided(op, "`" + nameOf(op) + "` has no address");
  } else if (auto get = dyn_cast<pto::MultiTileGetOp>(op)) {
    step.kind = StepKind::MultiGet;
    step.imm = shape(get.getResult().getType());
    step.count = static_cast<uint32_t>(get.getSource().getType().getCount());
    // Findings name what allocates the ring.
    Operation *maker = get.getSource().getDefiningOp();
    step.other = shared_.operation(maker ? maker : op);
    step.args = {registerOf(get.getSource()), registerOf(get.getSlot()),
                 optional(get.getValidRow()), optional(get.getValidCol())};
  } else if (auto declare = dyn_cast<pto::DeclareTileOp>(op)) {
    step.kind = StepKind::Declare;
    step.imm = shape(declare.getTile().getType());
    // A popped tile has no address before its pop.
    step.args = {kNone, optional(declare.getValidRow()), optional(declare.getValidCol())};
  } else if (auto window = dyn_cast<pto::SubsetOp>(op)) {
    step.kind = StepKind::Window;
    step.imm = shape(window.getResult().getType());
    step.args = {registerOf(window.getSource()), optional(window.getValidRow()),
                 optional(window.getValidCol()), registerOf(window.getRow()),
                 registerOf(window.getCol())};
  } else if (auto reshape = dyn_cast<pto::TReshapeOp>(op)) {
    readAlias(reshape, step);
  } else if (auto cast = dyn_cast<pto::BitcastOp>(op)) {
    readAlias(cast, step);
  } else if (isa<pto::SetValidShapeOp>(op)) {
    step.kind = StepKind::SetValid;
    step.args = registersOf(op->getOperands());
  } else {
    return false;
  }
  return true;
}

bool FunctionReader::readView(Operation *op, Step &step) {
  if (isa<pto::AddPtrOp>(op)) {
    step.kind = StepKind::AddPointer;
  } else if (auto view = dyn_cast<pto::MakeTensorViewOp>(op)) {
    step.kind = StepKind::View;
    step.count = static_cast<uint32_t>(view.getType().getRank());
  } else if (auto box = dyn_cast<pto::PartitionViewOp>(op)) {
    step.kind = StepKind::Box;
    step.count = static_cast<uint32_t>(box.getType().getRank());
  } else {
    return false;
  }
  step.args = registersOf(op->getOperands());
  return true;
}

// ---- queues -------------------------------------------------------------------------------------

// The buffer of the consumer's slots: a reserved buffer of this function or of its peer.
static pto::ReserveBufferOp reserveOf(Value address) {
  Operation *op = address.getDefiningOp();
  if (auto reserve = dyn_cast_or_null<pto::ReserveBufferOp>(op))
    return reserve;
  auto import = dyn_cast_or_null<pto::ImportReservedBufferOp>(op);
  if (!import)
    return {};
  auto peer = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, import.getPeerFuncAttr());
  pto::ReserveBufferOp found;
  if (peer)
    peer.walk([&](pto::ReserveBufferOp reserve) {
      if (reserve.getName() == import.getName())
        found = reserve;
    });
  return found;
}

void FunctionReader::readOpen(Operation *op, Step &step) {
  QueueSide side;
  side.op = step.op;
  auto number = [&](StringRef name) {
    auto attribute = op->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : -1;
  };
  side.slotSize = number("slot_size");
  side.slots = number("slot_num");
  side.localSlots = number("local_slot_num");
  side.flagBase = number("flag_base");
  if (auto noSplit = op->getAttrOfType<BoolAttr>("nosplit"))
    side.noSplit = noSplit.getValue();
  auto global = dyn_cast<pto::InitializeL2G2LPipeOp>(op);
  Value local = global ? global.getLocalAddr() : cast<pto::InitializeL2LPipeOp>(op).getLocalAddr();
  // Without a count of its own the consumer has as many local slots as the ring.
  if (side.localSlots <= 0)
    side.localSlots = side.slots;
  if (auto constant = getConstantIntValue(local))
    side.reservedBase = *constant;
  if (auto reserve = reserveOf(local)) {
    side.reserved = reserve.getName().str();
    side.reservedBytes = reserve.getSize();
    side.reservedPlace = reserve.getLocation().str();
    side.reserveOp = shared_.operation(reserve);
    // The base is -1 until it is placed, which `judgeQueues` reports.
    side.reservedBase = reserve.getBase() ? static_cast<int64_t>(*reserve.getBase()) : -1;
  }
  if (global) {
    step.args = {registerOf(global.getGmAddr())};
    side.pointerBytes = pto::elementBytes(global.getGmAddr().getType().getElementType());
  }
  step.kind = StepKind::Open;
  // Direction mask 2 is from the vector cores to the cube core.
  step.imm = shared_.queue(op, function_.cube, std::move(side), number("dir_mask") != 2,
                           global != nullptr);
}

bool FunctionReader::readQueue(Operation *op, Step &step) {
  if (isa<pto::InitializeL2G2LPipeOp, pto::InitializeL2LPipeOp>(op)) {
    readOpen(op, step);
    return true;
  }
  if (isa<pto::TPushOp, pto::TPopOp>(op)) {
    step.kind = isa<pto::TPushOp>(op) ? StepKind::Push : StepKind::Pop;
    step.sub = static_cast<uint8_t>(*pto::pipeOf(op));
    step.imm = op->getAttrOfType<IntegerAttr>("split").getInt();
  } else if (isa<pto::TFreeOp>(op)) {
    step.kind = StepKind::Free;
  } else {
    return false;
  }
  step.args = registersOf(op->getOperands());
  return true;
}

// ---- instructions and synchronisation -----------------------------------------------------------

bool FunctionReader::readSync(Operation *op, Step &step) {
  auto flag = [&](StepKind kind, pto::PipeKind from, pto::PipeKind to) {
    step.kind = kind;
    // A core has at most eight pipes, so a pair of them is a number below 64.
    step.imm = static_cast<int64_t>(pto::pipeOf(from)) * 8 + static_cast<int64_t>(pto::pipeOf(to));
  };
  if (auto set = dyn_cast<pto::SetFlagOp>(op)) {
    flag(StepKind::Set, set.getSrcPipe(), set.getDstPipe());
    step.count = static_cast<uint32_t>(set.getEventId());
  } else if (auto wait = dyn_cast<pto::WaitFlagOp>(op)) {
    flag(StepKind::Wait, wait.getSrcPipe(), wait.getDstPipe());
    step.count = static_cast<uint32_t>(wait.getEventId());
  } else if (auto set = dyn_cast<pto::SetFlagDynOp>(op)) {
    flag(StepKind::Set, set.getSrcPipe(), set.getDstPipe());
    step.args = {registerOf(set.getEventId())};
  } else if (auto wait = dyn_cast<pto::WaitFlagDynOp>(op)) {
    flag(StepKind::Wait, wait.getSrcPipe(), wait.getDstPipe());
    step.args = {registerOf(wait.getEventId())};
  } else if (auto set = dyn_cast<pto::SyncSetOp>(op)) {
    step.kind = StepKind::Signal;
    step.sub = static_cast<uint8_t>(pto::pipeOf(set.getPipe()));
    step.args = {registerOf(set.getEventId())};
  } else if (auto wait = dyn_cast<pto::SyncWaitOp>(op)) {
    step.kind = StepKind::Await;
    step.sub = static_cast<uint8_t>(pto::pipeOf(wait.getPipe()));
    step.args = {registerOf(wait.getEventId())};
  } else if (auto barrier = dyn_cast<pto::BarrierOp>(op)) {
    step.kind = StepKind::Barrier;
    step.sub = static_cast<uint8_t>(pto::pipeOf(barrier.getPipe()));
  } else {
    return false;
  }
  return true;
}

// ---- control flow -------------------------------------------------------------------------------

/// Whether the turns of a loop write parts of tiles at positions that its variables give.
static bool fillsParts(scf::ForOp loop) {
  llvm::SmallVector<Value> open(loop.getBody()->getArguments());
  llvm::DenseSet<Value> seen(open.begin(), open.end());
  auto follow = [&](ValueRange values) {
    for (Value value : values)
      if (seen.insert(value).second)
        open.push_back(value);
  };
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (Operation *user : value.getUsers()) {
      pto::Instruction instruction(user);
      if (isa<pto::SubsetOp>(user) || (instruction && (instruction.id() == InstructionId::TSetVal ||
                                                       instruction.id() == InstructionId::TInsert)))
        return true;
      if (auto inner = dyn_cast<scf::ForOp>(user))
        follow(inner.getBody()->getArguments());
      // A ring's slot is a whole tile, not a part of one.
      if (!isa<pto::MultiTileGetOp>(user) && isPure(user))
        follow(user->getResults());
    }
  }
  return false;
}

bool FunctionReader::readControl(Operation *op, Step &step, Body &body) {
  auto enter = [&](Region &region) {
    uint32_t index = readBody(region);
    body.hasQueue |= function_.bodies[index].hasQueue;
    // A while loop has no number of turns that could be left out.
    body.ofElements &= function_.bodies[index].ofElements && !isa<scf::WhileOp>(op);
    return index;
  };
  step.results = registersOf(op->getResults());
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    step.kind = StepKind::For;
    step.args = registersOf(op->getOperands());
    step.body = enter(loop.getRegion());
    function_.bodies[step.body].fillsParts = fillsParts(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    step.kind = StepKind::If;
    step.args = registersOf(op->getOperands());
    step.body = enter(branch.getThenRegion());
    step.other = enter(branch.getElseRegion());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    step.kind = StepKind::While;
    step.args = registersOf(op->getOperands());
    step.body = enter(loop.getBefore());
    step.other = enter(loop.getAfter());
  } else if (isa<scf::YieldOp, scf::ConditionOp>(op)) {
    step.kind = StepKind::Yield;
    step.args = registersOf(op->getOperands());
  } else {
    step.results.clear();
    return false;
  }
  return true;
}

} // namespace ptl::prove
