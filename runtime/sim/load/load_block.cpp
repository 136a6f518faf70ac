// The operations of the `pto` dialect except those of queues: views, buffers, synchronisation,
// instructions.
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"
#include "ir/dialect/element_types.h"
#include "runtime/sim/execution.h"
#include "runtime/sim/load/function_loader.h"

using namespace mlir;

namespace ptl::rt::sim {

static std::optional<Place> placeOf(ir::Place place) {
  switch (place) {
  case ir::Place::Vec:
    return Place::Vec;
  case ir::Place::Mat:
    return Place::Mat;
  case ir::Place::Left:
    return Place::Left;
  case ir::Place::Right:
    return Place::Right;
  case ir::Place::Acc:
    return Place::Acc;
  case ir::Place::Bias:
    return Place::Bias;
  case ir::Place::Scale:
    return Place::Scale;
  case ir::Place::ScaleLeft:
    return Place::ScaleLeft;
  case ir::Place::ScaleRight:
    return Place::ScaleRight;
  default:
    return std::nullopt;
  }
}

/// Scales are in memory like other arrays; only their tiles have layouts of their own.
static ViewLayout viewLayoutOf(pto::ViewLayout layout) {
  switch (layout) {
  case pto::ViewLayout::nd:
  case pto::ViewLayout::mx_a_nd:
    return ViewLayout::Nd;
  case pto::ViewLayout::dn:
  case pto::ViewLayout::mx_b_dn:
    return ViewLayout::Dn;
  case pto::ViewLayout::nz:
    return ViewLayout::Nz;
  }
  return ViewLayout::Nd;
}

bool FunctionLoader::tileOf(Operation *op, pto::TileBufType type, Tile &tile) {
  std::optional<Place> place = placeOf(type.getPlace());
  std::optional<ElemKind> elem = ir::registerKindOf(type.getElementType());
  if (!place || !elem)
    return fail(op, "has a tile of an unknown place or element type");
  const pto::Layout &layout = type.getLayout();
  tile.place = *place;
  tile.elem = *elem;
  tile.layout = {static_cast<ElementOrder>(layout.box), static_cast<ElementOrder>(layout.inner),
                 layout.fractal, layout.pad};
  tile.rows = tile.bufferRows = static_cast<int32_t>(type.getRows());
  tile.cols = tile.bufferCols = static_cast<int32_t>(type.getCols());
  // Valid extents that the type does not contain are operands; until then the whole tile is valid.
  auto valid = [](int64_t given, int32_t all) {
    return given == pto::kDynamic ? all : static_cast<int32_t>(given);
  };
  tile.validRows = valid(type.getValidRows(), tile.rows);
  tile.validCols = valid(type.getValidCols(), tile.cols);
  return true;
}

bool FunctionLoader::loadTile(StepKind kind, Operation *op, ValueRange operands, Value validRow,
                              Value validCol) {
  Type type = op->getResult(0).getType();
  // The step of a ring describes one of its slots.
  if (auto multi = dyn_cast<pto::MultiTileBufType>(type))
    type = multi.getSlot();
  Tile tile;
  if (!tileOf(op, cast<pto::TileBufType>(type), tile))
    return false;
  Step &step = add(kind, op, operands);
  step.tile = tile;
  if (validRow) {
    step.validRowGiven = true;
    step.operands.push_back(registerOf(validRow));
  }
  if (validCol) {
    step.validColGiven = true;
    step.operands.push_back(registerOf(validCol));
  }
  return true;
}

bool FunctionLoader::loadView(Operation *op, bool &known) {
  known = true;
  if (isa<pto::AddPtrOp>(op)) {
    add(StepKind::AddPointer, op, op->getOperands());
    return true;
  }
  if (isa<pto::PartitionViewOp>(op)) {
    add(StepKind::PartitionView, op, op->getOperands());
    return true;
  }
  if (auto make = dyn_cast<pto::MakeTensorViewOp>(op)) {
    std::optional<ElemKind> elem = ir::registerKindOf(make.getType().getElementType());
    int64_t rank = make.getType().getRank();
    if (!elem || rank > View::maxRank)
      return fail(op, "has more than five axes or an unknown element type");
    Step &step = add(StepKind::MakeView, op, op->getOperands());
    step.view.elem = *elem;
    step.view.rank = static_cast<int8_t>(rank);
    if (auto layout = make.getLayout())
      step.view.layout = viewLayoutOf(*layout);
    return true;
  }
  if (isa<pto::LoadScalarOp, pto::StoreScalarOp>(op)) {
    auto store = dyn_cast<pto::StoreScalarOp>(op);
    Step &step = store ? add(StepKind::StoreScalar, op,
                             {store.getPointer(), store.getOffset(), store.getValue()})
                       : add(StepKind::LoadScalar, op, op->getOperands());
    step.type.kind =
        ir::registerKindOf(store ? store.getValue().getType() : op->getResult(0).getType())
            .value_or(ElemKind::I64);
    return true;
  }
  known = false;
  return true;
}

bool FunctionLoader::loadBuffer(Operation *op, bool &known) {
  known = true;
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getAddr() ? loadTile(StepKind::AllocTile, op, alloc.getAddr(), alloc.getValidRow(),
                                      alloc.getValidCol())
                           : fail(op, "has no address");
  if (auto alloc = dyn_cast<pto::AllocMultiTileOp>(op))
    return alloc.getAddr() ? loadTile(StepKind::AllocTile, op, alloc.getAddr(), {}, {})
                           : fail(op, "has no address");
  if (auto get = dyn_cast<pto::MultiTileGetOp>(op)) {
    if (!loadTile(StepKind::GetSlot, op, {get.getSource(), get.getSlot()}, get.getValidRow(),
                  get.getValidCol()))
      return false;
    // The count is not part of the tile, so the step has it.
    function_.steps.back().slotCount = get.getSource().getType().getCount();
    return true;
  }
  if (auto window = dyn_cast<pto::SubsetOp>(op))
    return loadTile(StepKind::Window, op, {window.getSource(), window.getRow(), window.getCol()},
                    window.getValidRow(), window.getValidCol());
  if (auto alias = dyn_cast<pto::TReshapeOp>(op))
    return loadTile(StepKind::Alias, op, alias.getSource(), alias.getValidRow(),
                    alias.getValidCol());
  if (auto alias = dyn_cast<pto::BitcastOp>(op))
    return loadTile(StepKind::Alias, op, alias.getSource(), alias.getValidRow(),
                    alias.getValidCol());
  if (auto declare = dyn_cast<pto::DeclareTileOp>(op))
    return loadTile(StepKind::DeclareTile, op, {}, declare.getValidRow(), declare.getValidCol());
  if (isa<pto::SetValidShapeOp>(op)) {
    Step &step = add(StepKind::SetValid, op, op->getOperands());
    step.validRowGiven = step.validColGiven = true;
    return true;
  }
  if (isa<pto::TGetValOp>(op)) {
    add(StepKind::GetValue, op, op->getOperands());
    return true;
  }
  known = false;
  return true;
}

bool FunctionLoader::loadSync(Operation *op, bool &known) {
  known = true;
  auto addFlag = [&](StepKind kind, pto::PipeKind source, pto::PipeKind target, int32_t id,
                     ValueRange operands) {
    Step &step = add(kind, op, operands);
    if (auto why = attrs::why.of(op)) {
      step.why = static_cast<int32_t>(function_.reasons.size());
      function_.reasons.push_back(why.str());
    }
    step.flag = {pto::pipeOf(source), pto::pipeOf(target), id};
    // A set executes on the pipe that sets, a wait on the pipe that waits.
    step.pipe = kind == StepKind::SetFlag ? step.flag.source : step.flag.target;
    return true;
  };
  if (auto set = dyn_cast<pto::SetFlagOp>(op))
    return addFlag(StepKind::SetFlag, set.getSrcPipe(), set.getDstPipe(),
                   static_cast<int32_t>(set.getEventId()), {});
  if (auto wait = dyn_cast<pto::WaitFlagOp>(op))
    return addFlag(StepKind::WaitFlag, wait.getSrcPipe(), wait.getDstPipe(),
                   static_cast<int32_t>(wait.getEventId()), {});
  if (auto set = dyn_cast<pto::SetFlagDynOp>(op))
    // A computed id is an operand, and -1 marks it.
    return addFlag(StepKind::SetFlag, set.getSrcPipe(), set.getDstPipe(), -1, op->getOperands());
  if (auto wait = dyn_cast<pto::WaitFlagDynOp>(op))
    return addFlag(StepKind::WaitFlag, wait.getSrcPipe(), wait.getDstPipe(), -1, op->getOperands());
  auto addCrossing = [&](StepKind kind, pto::PipeKind pipe, Value id) {
    Step &step = add(kind, op, id);
    step.flag.source = step.flag.target = step.pipe = pto::pipeOf(pipe);
    return true;
  };
  if (auto set = dyn_cast<pto::SyncSetOp>(op))
    return addCrossing(StepKind::SignalCores, set.getPipe(), set.getEventId());
  if (auto wait = dyn_cast<pto::SyncWaitOp>(op))
    return addCrossing(StepKind::WaitCores, wait.getPipe(), wait.getEventId());
  if (auto barrier = dyn_cast<pto::BarrierOp>(op)) {
    Step &step = add(StepKind::Barrier, op);
    step.flag.source = step.pipe = pto::pipeOf(barrier.getPipe());
    return true;
  }
  known = false;
  return true;
}

bool FunctionLoader::loadModifier(Operation *op, NamedAttribute attribute, Modifiers &modifiers) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  // The compiler's own attributes do not change what an instruction does.
  if (name.starts_with("ptl."))
    return true;
  if (auto compare = dyn_cast<pto::CmpModeAttr>(value))
    modifiers.compare = static_cast<Compare>(compare.getValue());
  else if (auto round = dyn_cast<pto::RoundModeAttr>(value))
    modifiers.rounding = static_cast<Rounding>(round.getValue());
  else if (auto saturation = dyn_cast<pto::SaturationModeAttr>(value))
    modifiers.saturate = saturation.getValue() == pto::SaturationMode::ON;
  else if (auto pattern = dyn_cast<pto::MaskPatternAttr>(value))
    modifiers.maskPattern = static_cast<uint8_t>(pattern.getValue());
  else if (auto mode = dyn_cast<pto::AccToVecModeAttr>(value))
    modifiers.accToVec = static_cast<AccToVec>(mode.getValue());
  else if (auto atomic = dyn_cast<pto::AtomicTypeAttr>(value))
    modifiers.atomicAdd = atomic.getValue() == pto::AtomicType::atomic_add;
  else if (auto relu = dyn_cast<pto::ReluPreModeAttr>(value))
    modifiers.relu = relu.getValue() == pto::ReluPreMode::normal_relu;
  else if (auto quant = dyn_cast<pto::QuantTypeAttr>(value))
    modifiers.asymmetric = quant.getValue() == pto::QuantType::INT8_ASYM;
  else if (auto flag = dyn_cast<BoolAttr>(value); flag && name == "descending")
    modifiers.descending = flag.getValue();
  else if (flag && name == "exhausted")
    modifiers.exhausted = flag.getValue();
  else if (flag && name == "upper")
    modifiers.upper = flag.getValue();
  else if (name != "isBinary") // the order of a sum has no effect here
    return fail(op, "has the attribute `" + name + "`, which the simulator does not know");
  // A result in the memories of both vector cores is not modelled.
  if (modifiers.accToVec && *modifiers.accToVec > AccToVec::Vec1)
    return fail(op, "deals its result to both vector cores, which the simulator does not know");
  return true;
}

/// The note of a `tprint` about its line.
static std::optional<PrintedPart> printedPartOf(Operation *op) {
  ArrayAttr texts = attrs::texts.of(op);
  if (!texts || texts.size() < 2 || !isa<StringAttr>(texts[0]))
    return std::nullopt;
  PrintedPart part;
  part.before = cast<StringAttr>(texts[0]).str();
  part.endsLine = texts.size() > 2;
  if (part.endsLine)
    part.behind = cast<StringAttr>(texts[2]).str();
  auto type = dyn_cast<TypeAttr>(texts[1]);
  part.hasValue = type != nullptr;
  if (!type)
    return part;
  part.elem = ir::elemKindOf(ir::elementTypeOf(type.getValue()));
  for (const ir::Extent &extent : ir::extentsOf(type.getValue()))
    part.extents.push_back(extent.isConstant() ? extent.length : -1);
  return part;
}

bool FunctionLoader::loadInstruction(Operation *op) {
  pto::Instruction instruction(op);
  if (!isSimulated(instruction.id()))
    return fail(op, "is not simulated");
  Modifiers modifiers;
  for (NamedAttribute attribute : op->getAttrs())
    if (!loadModifier(op, attribute, modifiers))
      return false;
  Step &step = add(StepKind::Instruction, op, op->getOperands());
  step.instruction = instruction.id();
  step.pipe = instruction.pipe();
  step.modifiers = modifiers;
  if (std::optional<PrintedPart> part = printedPartOf(op)) {
    step.target = static_cast<int32_t>(function_.prints.size());
    function_.prints.push_back(std::move(*part));
  }
  step.numOuts = static_cast<uint8_t>(instruction.outs().size());
  // Scratch operands are marked because they are overwritten with poison before each use.
  for (unsigned i = 0; i < instruction.ins().size(); ++i)
    if (instruction.isScratch(i))
      step.scratch |= static_cast<uint16_t>(1 << i);
  for (Value operand : op->getOperands())
    step.operandTypes.push_back({ir::registerKindOf(operand.getType()).value_or(ElemKind::I64)});
  return true;
}

bool FunctionLoader::loadBlockLevel(Operation *op) {
  if (pto::Instruction instruction(op); instruction)
    return loadInstruction(op);
  bool known = false;
  // Each function takes the operations that it knows and leaves the others to the next one.
  for (auto load : {&FunctionLoader::loadView, &FunctionLoader::loadBuffer,
                    &FunctionLoader::loadSync, &FunctionLoader::loadQueueOp}) {
    if (!(this->*load)(op, known))
      return false;
    if (known)
      return true;
  }
  if (auto trap = dyn_cast<pto::TrapOp>(op)) {
    Step &step = add(StepKind::Trap, op, trap.getValues());
    step.target = static_cast<int32_t>(function_.checks.size());
    for (Value value : trap.getValues())
      step.operandTypes.push_back({ir::registerKindOf(value.getType()).value_or(ElemKind::I64)});
    function_.checks.push_back({trap.getStatus().str(), trap.getMessage().str()});
    return true;
  }
  if (isa<pto::GetBlockIdxOp>(op))
    add(StepKind::BlockIndex, op, {});
  else if (isa<pto::GetBlockNumOp>(op))
    add(StepKind::BlockCount, op, {});
  else if (isa<pto::GetSubBlockIdxOp>(op))
    add(StepKind::SubBlockIndex, op, {});
  else if (isa<pto::GetSubBlockNumOp>(op))
    add(StepKind::SubBlockCount, op, {});
  else
    return fail(op, "is not known to the simulator");
  return true;
}

} // namespace ptl::rt::sim
