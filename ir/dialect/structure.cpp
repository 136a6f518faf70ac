#include "ir/dialect/attributes.h"
#include "ir/dialect/fold.h"
#include "ir/dialect/grid_scope.h"
#include "ir/dialect/lengths.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "ir/dialect/structure.cpp.inc"

#define GET_OP_CLASSES
#include "ir/dialect/fold.cpp.inc"

namespace ptl::ir {

void PtlDialect::registerStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/structure.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/fold.cpp.inc"
      >();
}

// ---- constant, dim, alloc, cast, new_axis -------------------------------------------------------

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult DimOp::verify() {
  int64_t rank = static_cast<int64_t>(extentsOf(getSource().getType()).size());
  int64_t axis = static_cast<int64_t>(getAxis());
  if (axis < 0 || axis >= rank)
    return emitOpError("axis ") << axis << " is outside rank " << rank;
  return success();
}

/// The argument of the function that says the length of its array; null if none does.
static Value dimensionOf(BlockArgument array, StringAttr symbol) {
  auto function = dyn_cast<FunctionOpInterface>(array.getOwner()->getParentOp());
  // Dimensions are arguments that are marked with their name.
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
    if (attrs::dim.of(function, i) == symbol)
      return function.getArgument(i);
  return {};
}

/// The axis of the source that an axis of a box is.
static unsigned sourceAxis(llvm::ArrayRef<int64_t> dropped, unsigned axis) {
  unsigned from = 0;
  for (;; ++from)
    // The axes that are not dropped are counted off.
    if (!llvm::is_contained(dropped, static_cast<int64_t>(from)) && axis-- == 0)
      return from;
}

Value knownLength(Value array, unsigned axis) {
  if (auto argument = dyn_cast<BlockArgument>(array))
    // A caller's array has the length that its dimension says.
    return dimensionOf(argument, extentsOf(array.getType())[axis].symbol);
  Operation *made = array.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(made))
    // Boxes have a length for each axis of the source.
    return load.getLengths()[sourceAxis(load.getDropped(), axis)];
  if (auto slice = dyn_cast<SliceOp>(made))
    return slice.getLengths()[sourceAxis(slice.getDropped(), axis)];
  if (auto cast = dyn_cast<CastOp>(made))
    return knownLength(cast.getSource(), axis);
  if (isa<FoldOp>(made))
    return knownLength(made->getOperand(0), axis);
  if (auto expand = dyn_cast<NewAxisOp>(made)) {
    // Axes before this one may be new, and do not count in the source.
    auto before = llvm::count_if(expand.getAxes(), [&](int64_t own) { return own < axis; });
    return knownLength(expand.getSource(), axis - static_cast<unsigned>(before));
  }
  // What makes an array lists the lengths of those axes that are not constant.
  auto lengths = llvm::TypeSwitch<Operation *, ValueRange>(made)
                     .Case<AllocOp, ViewOp, IndexOp, ZerosOp, OnesOp, FullOp>(
                         [](auto each) { return ValueRange(each.getLengths()); })
                     .Default([](Operation *) { return ValueRange(); });
  if (lengths.empty())
    return {};
  auto before = extentsOf(array.getType()).take_front(axis);
  return lengths[static_cast<size_t>(
      llvm::count_if(before, [](const Extent &extent) { return !extent.isConstant(); }))];
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  const Extent &extent = extentsOf(getSource().getType())[getAxis()];
  if (extent.isConstant())
    return IntegerAttr::get(IndexType::get(getContext()), extent.length);
  return knownLength(getSource(), static_cast<unsigned>(getAxis()));
}

/// All of an array is the array.
OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (getType() != getSource().getType() || getOutside() || !getSteps().empty())
    return {};
  // A slice of an array outside of a grid stands for the load that a kernel makes, so it stays.
  if (isOutsideGrid(*this, getSource())) // loaded, also all of it
    return {};
  for (unsigned axis = 0; axis < getLengths().size(); ++axis) {
    Value length = getLengths()[axis];
    const Extent &extent = extentsOf(getSource().getType())[axis];
    APInt number;
    // The whole axis is either a number or the very value that is its length.
    bool isWhole = extent.isConstant() ? matchPattern(length, m_ConstantInt(&number)) &&
                                             number.getSExtValue() == extent.length
                                       : length == knownLength(getSource(), axis);
    if (!isWhole || !matchPattern(getOffsets()[axis], m_Zero()))
      return {};
  }
  return getSource();
}

/// Whether storage has a length for each extent that is not a number.
static LogicalResult verifyLengths(Operation *op, ValueRange lengths) {
  auto isNamed = [](const Extent &extent) { return !extent.isConstant(); };
  auto named = static_cast<size_t>(llvm::count_if(extentsOf(op->getResult(0).getType()), isNamed));
  if (named != lengths.size())
    return op->emitOpError("has ")
           << lengths.size() << " lengths for " << named << " extents that are not numbers";
  return success();
}

LogicalResult AllocOp::verify() { return verifyLengths(*this, getLengths()); }

LogicalResult ViewOp::verify() {
  if (getRef().getType().getElementType() != getResult().getType().getElementType())
    return emitOpError("may change the shape only");
  for (Operation *user : getRef().getUsers())
    if (user != getOperation() && !isa<DimOp>(user))
      return emitOpError("is of storage that has another user");
  return verifyLengths(*this, getLengths());
}

LogicalResult CastOp::verify() {
  auto from = getSource().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank())
    return emitOpError("may change names, capacities and the place only");
  for (auto [a, b] : llvm::zip(from.getExtents(), to.getExtents()))
    // Extents with names may differ, because a cast may rename them.
    if (a.isConstant() && b.isConstant() && a.length != b.length)
      return emitOpError("changes an extent from ") << a.length << " to " << b.length;
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  return {};
}

LogicalResult NewAxisOp::verify() {
  auto from = getSource().getType(), to = getResult().getType();
  if (from.getRank() + static_cast<int64_t>(getAxes().size()) != to.getRank())
    return emitOpError("the ranks do not fit");
  for (int64_t axis : getAxes())
    if (axis < 0 || axis >= to.getRank() || !to.getExtents()[axis].isOne())
      return emitOpError("axis ") << axis << " must have extent 1";
  return success();
}

// ---- Boxes --------------------------------------------------------------------------------------

/// Checks what all operations on boxes share; `value` is the box's content, null when it
/// broadcasts.
static LogicalResult verifyBox(Operation *op, Type base, size_t offsets, size_t lengths,
                               size_t steps, llvm::ArrayRef<int64_t> dropped, Type value) {
  size_t rank = extentsOf(base).size();
  if (offsets != rank || lengths != rank || (steps != 0 && steps != rank))
    return op->emitOpError("needs one offset and one length for each of the ")
           << rank << " axes of the base";
  for (int64_t axis : dropped)
    if (axis < 0 || axis >= static_cast<int64_t>(rank))
      return op->emitOpError("drops axis ") << axis << " of a base of rank " << rank;
  if (!value)
    return success();
  if (extentsOf(value).size() != rank - dropped.size())
    return op->emitOpError("the result has the wrong rank");
  if (elementTypeOf(value) != elementTypeOf(base))
    return op->emitOpError("the element types differ");
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyBox(*this, getRef().getType(), getOffsets().size(), getLengths().size(),
                   getSteps().size(), getDropped(), getResult().getType());
}

LogicalResult SliceOp::verify() {
  return verifyBox(*this, getSource().getType(), getOffsets().size(), getLengths().size(),
                   getSteps().size(), getDropped(), getResult().getType());
}

static LogicalResult verifyValue(Operation *op, Type value, Type base, size_t dropped) {
  if (elementTypeOf(value) != elementTypeOf(base))
    return op->emitOpError("the element types differ");
  if (extentsOf(value).size() > extentsOf(base).size() - dropped)
    return op->emitOpError("the value has more axes than the box");
  return success();
}

/// Of an operation that writes a value to a box of `base`.
template <typename Op> static LogicalResult verifyWrite(Op op, Type base) {
  if (failed(verifyBox(op, base, op.getOffsets().size(), op.getLengths().size(),
                       op.getSteps().size(), op.getDropped(), Type())))
    return failure();
  // An index array needs to know its axis.
  if (op.getIndex() && !op.getIndexAxis())
    return op.emitOpError("scatters without `indexAxis`");
  return verifyValue(op, op.getValue().getType(), base, op.getDropped().size());
}

LogicalResult StoreOp::verify() { return verifyWrite(*this, getRef().getType()); }

LogicalResult InsertOp::verify() { return verifyWrite(*this, getDest().getType()); }

// ---- Grid ---------------------------------------------------------------------------------------

LogicalResult ParallelOp::verify() {
  size_t count = getLower().size();
  if (count == 0 || getUpper().size() != count || getSteps().size() != count)
    return emitOpError("needs a lower bound, an upper bound and a step for each variable");
  if (getBody().getNumArguments() != count)
    return emitOpError("has ") << count << " bounds but " << getBody().getNumArguments()
                               << " variables";
  return success();
}

void ParallelOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument arg) { printer.printRegionArgument(arg, {}, true); });
  printer << ") = (" << getLower() << ") to (" << getUpper() << ") step (" << getSteps() << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
}

ParseResult ParallelOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  llvm::SmallVector<OpAsmParser::Argument> variables;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> lower, upper, steps;
  auto parseList = [&](auto &list) {
    return parser.parseOperandList(list, OpAsmParser::Delimiter::Paren);
  };
  if (parser.parseArgumentList(variables, OpAsmParser::Delimiter::Paren) || parser.parseEqual() ||
      parseList(lower) || parser.parseKeyword("to") || parseList(upper) ||
      parser.parseKeyword("step") || parseList(steps))
    return failure();
  for (auto *list : {&lower, &upper, &steps})
    if (parser.resolveOperands(*list, index, result.operands))
      return failure();
  for (OpAsmParser::Argument &variable : variables)
    variable.type = index;
  auto size = [](const auto &list) { return static_cast<int32_t>(list.size()); };
  // The three lists are stored one after the other with their sizes.
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(
                                                 {size(lower), size(upper), size(steps)}));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, variables) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  // The terminator is not printed, so it is added again.
  ParallelOp::ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

// ---- Checks -------------------------------------------------------------------------------------

LogicalResult CheckOp::canonicalize(CheckOp op, PatternRewriter &rewriter) {
  // A condition that is true needs no check.
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

// ---- folds --------------------------------------------------------------------------------------

/// The element that a body has of an array.
static Type oneOf(Type array) { return arrayTypeOf(elementTypeOf(array), {Extent::constant(1)}); }

LogicalResult FoldOp::verify() {
  size_t arrays = getNumOperands() / 2;
  if (arrays == 0 || getNumOperands() != 2 * arrays || getWanted().size() != getNumResults())
    return emitOpError("needs arrays, and a start for each of them");
  int64_t rank = rankOf(getOperand(0).getType()), axis = static_cast<int64_t>(getAxis());
  if (axis < 0 || axis >= rank)
    return emitOpError("axis ") << axis << " is outside rank " << rank;
  Block &body = getBody().front();
  Operation *end = body.empty() ? nullptr : &body.back();
  if (body.getNumArguments() != 2 * arrays || !isa_and_nonnull<FoldYieldOp>(end) ||
      end->getNumOperands() != arrays)
    return emitOpError("combines two elements of each array to one");
  for (unsigned i = 0; i < arrays; ++i) {
    Type array = getOperand(i).getType(), one = oneOf(array);
    if (!isa<ArrayType>(array) || extentsOf(array) != extentsOf(getOperand(0).getType()))
      return emitOpError("has arrays of one shape");
    for (Type element : {body.getArgument(i).getType(),
                         body.getArgument(static_cast<unsigned>(arrays) + i).getType(),
                         end->getOperand(i).getType()})
      if (element != one)
        return emitOpError("combines single elements");
  }
  for (auto [result, of] : llvm::zip(getResults(), getWanted())) {
    if (of < 0 || of >= static_cast<int64_t>(arrays))
      return emitOpError("has no array ") << of;
    Type array = getOperand(static_cast<unsigned>(of)).getType();
    llvm::SmallVector<Extent> extents(extentsOf(array));
    if (getLast())
      extents[static_cast<size_t>(axis)] = Extent::constant(1);
    if (extentsOf(result.getType()) != llvm::ArrayRef(extents) ||
        elementTypeOf(result.getType()) != elementTypeOf(array))
      return emitOpError("has results like its arrays");
  }
  return success();
}

/// Results that nobody reads are not stored.
LogicalResult FoldOp::canonicalize(FoldOp op, PatternRewriter &rewriter) {
  llvm::SmallVector<int64_t> wanted;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<Value> read;
  for (auto [result, of] : llvm::zip(op.getResults(), op.getWanted())) {
    if (result.use_empty())
      continue;
    wanted.push_back(of);
    types.push_back(result.getType());
    read.push_back(result);
  }
  if (wanted.empty() || wanted.size() == op.getNumResults())
    return failure();
  auto less = rewriter.create<FoldOp>(op.getLoc(), types, op.getOperands(), op.getAxisAttr(),
                                      rewriter.getDenseI64ArrayAttr(wanted), op.getLastAttr());
  less->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getBody(), less.getBody(), less.getBody().end());
  for (auto [result, now] : llvm::zip(read, less.getResults()))
    rewriter.replaceAllUsesWith(result, now);
  rewriter.eraseOp(op);
  return success();
}

} // namespace ptl::ir
