// Structural operations of the block level: spelling that is not declarative, names of results,
// verification.
#include "ir/dialect/cross_core.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#include "ir/dialect/pto_dialect.cpp.inc"

// `location = <vec>`: the place without its dialect prefix.
static ParseResult parseAddressSpace(OpAsmParser &parser, StringAttr &location) {
  StringRef keyword;
  if (parser.parseLess() || parser.parseKeyword(&keyword) || parser.parseGreater())
    return failure();
  location = parser.getBuilder().getStringAttr(keyword);
  return success();
}
static void printAddressSpace(OpAsmPrinter &printer, Operation *, StringAttr location) {
  printer << '<' << location.getValue() << '>';
}

// `, local_slot_num = 2, flag_base = 0, nosplit = true`, each only where it is there.
static ParseResult parsePipeOptions(OpAsmParser &parser, IntegerAttr &localSlots,
                                    IntegerAttr &flagBase, BoolAttr &nosplit) {
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    Type i32 = parser.getBuilder().getI32Type();
    if (key == "nosplit"          ? static_cast<bool>(parser.parseAttribute(nosplit))
        : key == "local_slot_num" ? static_cast<bool>(parser.parseAttribute(localSlots, i32))
        : key == "flag_base"      ? static_cast<bool>(parser.parseAttribute(flagBase, i32))
                                  : true)
      return parser.emitError(parser.getNameLoc(),
                              "expected `local_slot_num`, `flag_base` or `nosplit`");
  }
  return success();
}
static void printPipeOptions(OpAsmPrinter &printer, Operation *, IntegerAttr localSlots,
                             IntegerAttr flagBase, BoolAttr nosplit) {
  if (localSlots)
    printer << ", local_slot_num = " << localSlots.getInt();
  if (flagBase)
    printer << ", flag_base = " << flagBase.getInt();
  if (nosplit)
    printer << ", nosplit = " << (nosplit.getValue() ? "true" : "false");
}

#define GET_OP_CLASSES
#include "ir/dialect/block.cpp.inc"
#define GET_OP_CLASSES
#include "ir/dialect/cross_core.cpp.inc"

namespace ptl::pto {

void PtoDialect::registerBlockOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/block.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/cross_core.cpp.inc"
      >();
}

bool hasCoreEvents(Operation *function) {
  auto isEvent = [](Operation *op) {
    return isa<SyncSetOp, SyncWaitOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return function->walk(isEvent).wasInterrupted();
}

bool hasWholeTileQueues(Operation *function) {
  auto isWhole = [](Operation *op) {
    auto whole = op->getAttrOfType<BoolAttr>("nosplit");
    return whole && whole.getValue() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return function->walk(isWhole).wasInterrupted();
}

PipeKind pipeKind(Pipe pipe) { return static_cast<PipeKind>(pipe); }
Pipe pipeOf(PipeKind kind) { return static_cast<Pipe>(kind); }
static_assert(static_cast<int>(PipeKind::PIPE_FIX) == static_cast<int>(Pipe::FIX) &&
              static_cast<int>(PipeKind::PIPE_ALL) == static_cast<int>(Pipe::All));

// ---- names --------------------------------------------------------------------------------------

static void nameResult(Operation *op, OpAsmSetValueNameFn setName) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    setName(op->getResult(0), name.getName());
}
#define NAMED(Class)                                                                               \
  void Class::getAsmResultNames(OpAsmSetValueNameFn setName) { nameResult(*this, setName); }
NAMED(MakeTensorViewOp)
NAMED(PartitionViewOp)
NAMED(AllocTileOp)
NAMED(AllocMultiTileOp)
NAMED(MultiTileGetOp)
NAMED(SubsetOp)
NAMED(TReshapeOp)
NAMED(BitcastOp)
NAMED(DeclareTileOp)
NAMED(InitializeL2G2LPipeOp)
NAMED(InitializeL2LPipeOp)
#undef NAMED

// ---- make_tensor_view ---------------------------------------------------------------------------

void MakeTensorViewOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getPointer() << ", shape = [";
  printer.printOperands(getShape());
  printer << "], strides = [";
  printer.printOperands(getStrides());
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
  printer << " : " << getType();
}

ParseResult MakeTensorViewOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand pointer;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> shape, strides;
  TensorViewType type;
  Type indexType = parser.getBuilder().getIndexType();
  auto square = OpAsmParser::Delimiter::Square;
  if (parser.parseOperand(pointer) || parser.parseComma() || parser.parseKeyword("shape") ||
      parser.parseEqual() || parser.parseOperandList(shape, square) || parser.parseComma() ||
      parser.parseKeyword("strides") || parser.parseEqual() ||
      parser.parseOperandList(strides, square) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperand(pointer, PtrType::get(parser.getContext(), type.getElementType()),
                            state.operands) ||
      parser.resolveOperands(shape, indexType, state.operands) ||
      parser.resolveOperands(strides, indexType, state.operands))
    return failure();
  auto &segments = state.getOrAddProperties<Properties>().operandSegmentSizes;
  segments = {1, static_cast<int32_t>(shape.size()), static_cast<int32_t>(strides.size())};
  state.addTypes(type);
  return success();
}

// ---- verification -------------------------------------------------------------------------------

LogicalResult MakeTensorViewOp::verify() {
  size_t rank = static_cast<size_t>(getType().getRank());
  if (getShape().size() != rank || getStrides().size() != rank)
    return emitOpError("has rank ") << rank << ", so as many extents and strides";
  if (getPointer().getType().getElementType() != getType().getElementType())
    return emitOpError("has another element type than its pointer");
  return success();
}

LogicalResult PartitionViewOp::verify() {
  size_t rank = static_cast<size_t>(getSource().getType().getRank());
  if (getOffsets().size() != rank || getSizes().size() != rank ||
      static_cast<size_t>(getType().getRank()) != rank)
    return emitOpError("has rank ") << rank << ", so as many offsets and sizes";
  if (getSource().getType().getElementType() != getType().getElementType())
    return emitOpError("has another element type than its source");
  return success();
}

LogicalResult AllocTileOp::verify() {
  TileBufType type = getType();
  if ((type.getValidRows() == kDynamic) != static_cast<bool>(getValidRow()) ||
      (type.getValidCols() == kDynamic) != static_cast<bool>(getValidCol()))
    return emitOpError("has `valid_row` and `valid_col` exactly where its type says `?`");
  return success();
}

} // namespace ptl::pto
