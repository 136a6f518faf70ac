#include "codegen/source/block_instructions.h"

#include "codegen/source/block_shared.h"
#include "codegen/source/block_tiles.h"
#include "codegen/source/block_views.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_literals.h"
#include "ir/dialect/instruction_op.h"
#include "ir/ops/instruction_attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

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

static std::string attributesText(Operation *op) {
  std::string text;
  for (const InstructionAttribute &row : instructionAttributes())
    if (Attribute attribute = op->getAttr(row.ptoas))
      text += ", " + std::string(row.name) + ": " + wordFor(row, attribute);
  return text;
}

Expression scalarOperandText(BlockCode &code, Value scalar, Type element) {
  Operation *op = scalar.getDefiningOp();
  if (op && matchPattern(scalar, m_Constant()))
    return literalText(op->getAttr("value"), scalar.getType(),
                       isa<FloatType>(scalar.getType()) && element && scalar.getType() != element);
  // Positions become what the instruction takes by themselves.
  if (auto cast = scalar.getDefiningOp<arith::IndexCastOp>();
      cast && cast.getIn().getType().isIndex())
    return indexText(code, cast.getIn(), "n");
  return scalar.getType().isIndex() ? indexText(code, scalar, "n") : valueText(code, scalar);
}

void printInstruction(BlockCode &code, Operation *op) {
  pto::Instruction instruction(op);
  std::vector<std::string> operands;
  Type element;
  auto add = [&](Value operand) {
    if (auto tile = dyn_cast<pto::TileBufType>(operand.getType())) {
      operands.push_back(tileText(code, operand).text);
      element = element ? element : tile.getElementType();
    } else if (isa<pto::PartitionViewType>(operand.getType())) {
      operands.push_back(viewText(code, operand).text);
    } else {
      operands.push_back(scalarOperandText(code, operand, element).text);
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
  code.line(callName(instruction.info().mnemonic) + "(" + llvm::join(operands, ", ") +
            attributesText(op) + ")");
}

} // namespace ptl::source
