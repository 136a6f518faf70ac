#include "codegen/source/block_body.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_scalars.h"
#include "codegen/source/tile_statements.h"

#include "ir/dialect/instruction_op.h"
#include "ir/dialect/source_name.h"
#include "ir/ops/instruction_attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

BlockBody::BlockBody(func::FuncOp function, SharedByCores &shared, const GivenArguments &arguments,
                     Unwritable unwritable)
    : code_(*this, ArrayUse::Whole, std::move(unwritable)), function_(function), byCores_(shared),
      arguments_(arguments) {
  // Names before what is computed from them.
  for (BlockArgument argument : function.getArguments())
    if (GivenArgument given = arguments.lookup(argument.getArgNumber());
        argument.getType().isIndex() && !given.name.empty())
      positions_.knowLength(given.name, argument);
  for (BlockArgument argument : function.getArguments())
    if (GivenArgument given = arguments.lookup(argument.getArgNumber()); !given.meaning.empty())
      positions_.knowMeaning(argument, given.meaning);
}

std::string BlockBody::nameFor(Value value) const {
  if (std::string name = givenName(value); !name.empty() && !value.getType().isIndex())
    return name;
  Operation *op = value.getDefiningOp();
  return op && isa<pto::TGetValOp, pto::LoadScalarOp>(op) ? "element"
         : value.getType().isIndex()                      ? "n"
                                                          : "s";
}

/// Names in locations are those of tiles, beside which scalars are computed.
std::optional<bool> BlockBody::isInlined(Operation *op) {
  // An element of memory is read where it stands.
  if (isa<pto::TGetValOp, pto::LoadScalarOp, pto::TPopOp>(op))
    return false;
  // A choice is a statement of its own, as a branch is.
  if (isa<arith::SelectOp>(op) && op->getResult(0).getType().isIndex())
    return op->use_empty();
  // Positions become what instructions take by themselves.
  if (auto cast = dyn_cast<arith::IndexCastOp>(op); cast && cast.getIn().getType().isIndex())
    return true;
  bool isScalar = op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) &&
                  op->getResult(0).getType().isIntOrIndexOrFloat();
  if (!isScalar || isPositionOp(op) || op->hasTrait<OpTrait::ConstantLike>() || isIdentity(op))
    return std::nullopt;
  return op->getResult(0).hasOneUse() &&
         (*op->getResult(0).user_begin())->getBlock() == op->getBlock();
}

void BlockBody::startAgain() {
  code_.startAgain();
  positions_.forgetAbbreviations();
  for (Shared &one : shared_)
    one.name.clear();
}

void BlockBody::run() {
  for (BlockArgument argument : function_.getArguments()) {
    GivenArgument given = arguments_.lookup(argument.getArgNumber());
    if (given.name.empty())
      continue;
    code_.names().reserve(given.name);
    code_.know(argument, given.name);
  }
  for (auto &[flag, queue] : byCores_.queues)
    code_.names().reserve(queue.name);
  for (auto &[number, event] : byCores_.events)
    code_.names().reserve(event.name);
  declareBuffers();
  nameEvents();
  declareEvents();
  printBlock(code_, function_.getBody().front());
}

std::string BlockBody::print() {
  collectEvents();
  collectBuffers();
  run();
  raiseAnchors();
  startAgain();
  run();
  return code_.takeText();
}

std::optional<Expression> BlockBody::written(Operation *op) {
  if (isIdentity(op))
    return share(
        "id " + op->getName().getStringRef().str(),
        {Shared::Kind::Identity, Dim(), op->getResult(0), pto::sourceName(op->getResult(0))});
  if (auto get = dyn_cast<pto::TGetValOp>(op))
    return Expression{"tgetval(" + tileText(get.getSource()).text + ", " +
                      positionAs(get.getOffset(), "at").text + ")"};
  if (auto load = dyn_cast<pto::LoadScalarOp>(op))
    return Expression{"load_scalar(" + elementAt(load.getPointer(), load.getOffset()) + ")"};
  return std::nullopt;
}

// ---- Instructions -------------------------------------------------------------------------------

/// `.` of a mnemonic is no part of a name.
static std::string callName(std::string_view mnemonic) {
  std::string name(mnemonic);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

/// The word of an attribute as it prints: `rint` for `#pto<round_mode RINT>`.
static std::string wordFor(const InstructionAttribute &row, Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue() ? "true" : "false";
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && row.kind == AttributeKind::Int)
    return std::to_string(number.getInt());
  std::string printed;
  llvm::raw_string_ostream(printed) << attribute;
  llvm::StringRef text = printed;
  text = text.rtrim('>');
  text = text.substr(text.find_last_of(" <") + 1);
  for (const AttributeWord &each : row.words)
    if (each.enumerator == std::string_view(text))
      return "." + std::string(each.word);
  return "." + text.lower();
}

std::string BlockBody::attributes(Operation *op) const {
  std::string text;
  for (const InstructionAttribute &row : instructionAttributes())
    if (Attribute attribute = op->getAttr(row.ptoas))
      text += ", " + std::string(row.name) + ": " + wordFor(row, attribute);
  return text;
}

/// A literal takes the element type of the tiles.
Expression BlockBody::scalarOperand(Value scalar, Type element) {
  Operation *op = scalar.getDefiningOp();
  if (op && matchPattern(scalar, m_Constant()))
    return literalText(op->getAttr("value"), scalar.getType(),
                       isa<FloatType>(scalar.getType()) && element && scalar.getType() != element);
  // Positions become what the instruction takes by themselves.
  if (auto cast = scalar.getDefiningOp<arith::IndexCastOp>();
      cast && cast.getIn().getType().isIndex())
    return positionAs(cast.getIn(), "n");
  return scalar.getType().isIndex() ? positionAs(scalar, "n") : valueText(code_, scalar);
}

void BlockBody::instruction(Operation *op) {
  pto::Instruction instruction(op);
  std::vector<std::string> operands;
  Type element;
  auto add = [&](Value operand) {
    if (auto tile = dyn_cast<pto::TileBufType>(operand.getType())) {
      operands.push_back(tileText(operand).text);
      element = element ? element : tile.getElementType();
    } else if (isa<pto::PartitionViewType>(operand.getType())) {
      operands.push_back(viewText(operand).text);
    } else {
      operands.push_back(scalarOperand(operand, element).text);
    }
  };
  for (Value out : instruction.outs())
    add(out);
  // An accumulating product writes to the tile that it adds to, so that operand is not written
  // twice.
  bool repeats = instruction.info().has(InstructionInfo::InPlace) &&
                 llvm::StringRef(instruction.info().mnemonic).ends_with(".acc") &&
                 instruction.ins().front() == instruction.outs().front();
  for (Value in : llvm::drop_begin(instruction.ins(), repeats ? 1 : 0))
    add(in);
  code_.line(callName(instruction.info().mnemonic) + "(" + llvm::join(operands, ", ") +
             attributes(op) + ")");
}

/// A branch that only stops the kernel is a check.
bool BlockBody::trap(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch->getNumResults() > 0 || !branch.getElseRegion().empty())
    return false;
  auto only = dyn_cast<pto::TrapOp>(branch.getThenRegion().front().front());
  if (!only || !isa<scf::YieldOp>(only->getNextNode()))
    return false;
  Value fails = branch.getCondition();
  std::string holds;
  auto flipped = fails.getDefiningOp<arith::XOrIOp>();
  auto comparison = fails.getDefiningOp<arith::CmpIOp>();
  if (flipped && matchPattern(flipped.getRhs(), m_One()))
    holds = valueText(code_, flipped.getLhs()).text;
  else if (comparison)
    holds =
        comparedIntegers(code_, comparison, arith::invertPredicate(comparison.getPredicate())).text;
  else
    holds = "not " + valueText(code_, fails).as(Precedence::Not);
  code_.line(assertText(holds, only.getMessage(), !only.getValues().empty()));
  return true;
}

bool BlockBody::special(Operation *op) {
  if (pto::Instruction(op)) {
    instruction(op);
    return true;
  }
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op); alloc && beginsInside(alloc)) {
    declareBuffer(alloc);
    return true;
  }
  if (isa<func::ReturnOp, pto::ReserveBufferOp, pto::ImportReservedBufferOp, pto::AddPtrOp,
          pto::MakeTensorViewOp, pto::PartitionViewOp, pto::AllocTileOp, pto::AllocMultiTileOp,
          pto::MultiTileGetOp, pto::SubsetOp, pto::TReshapeOp, pto::BitcastOp>(op) ||
      isIdentity(op))
    return true;
  if (auto store = dyn_cast<pto::StoreScalarOp>(op)) {
    Type element = cast<pto::PtrType>(store.getPointer().getType()).getElementType();
    code_.line("store_scalar(" + elementAt(store.getPointer(), store.getOffset()) + ", " +
               scalarOperand(store.getValue(), element).text + ")");
    return true;
  }
  return trap(op) || synchronisation(op) || queueing(op);
}

} // namespace ptl::source
