// Instructions as `.pto`, with what the versions of PTOAS want of them (ptoas_versions.def).
#include "codegen/pto/pto_emitter.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::pto {

std::string PtoFunctionEmitter::spelled(Operation *op) const {
  llvm::StringRef own = op->getName().stripDialect();
  return "pto." + std::string(ptoasName(version_, {own.data(), own.size()}));
}

/// Whether a conversion may meet values that have too many bits for its result.
static bool narrows(Instruction instruction) {
  if (instruction.id() != InstructionId::TCvt)
    return false;
  auto elementOf = [](Value tile) { return cast<TileBufType>(tile.getType()).getElementType(); };
  Type from = elementOf(instruction.ins()[0]), to = elementOf(instruction.outs()[0]);
  return (from.isF32() && to.isInteger(16)) ||
         (from.isF16() && (to.isInteger(16) || to.isInteger(8)));
}

/// ` {cmpMode = #pto<cmp lt>}` without what is ours.
std::string PtoFunctionEmitter::attributes(Instruction instruction) {
  Operation *op = instruction.operation();
  std::string text;
  llvm::raw_string_ostream out(text);
  for (NamedAttribute attribute : op->getAttrs()) {
    if (attribute.getName().strref().starts_with("ptl."))
      continue;
    out << (text.empty() ? "{" : ", ") << attribute.getName().strref() << " = "
        << attribute.getValue();
  }
  if (narrows(instruction) && has(PtoasChange::NarrowingSaturates) && !op->hasAttr("sat_mode") &&
      instruction.ins().size() == 1)
    out << (text.empty() ? "{" : ", ")
        << "sat_mode = " << SaturationModeAttr::get(op->getContext(), SaturationMode::ON);
  return text.empty() ? text : text + "}";
}

/// Says where the version wants scratch that an expert's code does not give.
void PtoFunctionEmitter::findScratch(Instruction instruction) {
  Operation *op = instruction.operation();
  if (narrows(instruction) && has(PtoasChange::NarrowingSaturates) &&
      instruction.ins().size() == 1) {
    auto mode = op->getAttrOfType<SaturationModeAttr>("sat_mode");
    if (mode && mode.getValue() == SaturationMode::OFF)
      missing(op, "this version of PTOAS wants scratch for a `tcvt` that does not saturate: give "
                  "it a second operand, or leave out `saturate`");
  }
  if (instruction.id() == InstructionId::TSort32 && has(PtoasChange::SortScratch) &&
      instruction.ins().size() == 2) {
    constexpr int64_t block = 32;
    Value values = instruction.ins()[0];
    Type other = tileTypes_.lookup(values);
    auto type = cast<TileBufType>(other ? other : values.getType());
    if (type.getValidCols() == kDynamic || type.getValidCols() % block)
      missing(op, "this version of PTOAS wants scratch for a `tsort32` whose width is not a "
                  "constant multiple of 32: give it a third operand");
  }
}

/// Consecutive numbers one by one, on the pipe of scalars.
void PtoFunctionEmitter::emitNumbers(Instruction tci) {
  Operation *op = tci.operation();
  auto type = cast<TileBufType>(tci.outs()[0].getType());
  auto [tile, tileType] = withoutSign(op, tci.outs()[0]);
  Value first = tci.ins()[0];
  std::string element = typeOf(first), at = "%" + names_.fresh("at");
  auto descending = op->getAttrOfType<BoolAttr>("descending");
  body_.add("scf.for " + at + " = " + indexConstant(0) + " to " + indexConstant(type.getCols()) +
                " step " + indexConstant(1) + " {",
            placeOf(op));
  body_.indent(2);
  std::string wide = "%" + names_.fresh("at_i64"), step = "%" + names_.fresh("step"),
              number = "%" + names_.fresh("number");
  line(op, wide + " = arith.index_cast " + at + " : index to i64");
  line(op, step + " = arith.trunci " + wide + " : i64 to " + element);
  line(op, number + (descending && descending.getValue() ? " = arith.subi " : " = arith.addi ") +
               name(first) + ", " + step + " : " + element);
  line(op, "pto.tsetval ins(" + at + ", " + number + " : index, " + element + ") outs(" + tile +
               " : " + tileType + ")");
  body_.dedent(2);
  line(op, "}");
}

/// A fill with a number that is no constant for PTOAS (`constantOfBits`): with its bits, which are.
bool PtoFunctionEmitter::emitBits(Instruction fill) {
  FloatAttr real;
  Value tile = fill.outs()[0];
  if (!matchPattern(fill.ins()[0], m_Constant(&real)) || real.getValue().isFinite() ||
      addresses_.find(tile) == addresses_.end())
    return false;
  llvm::APInt bits = real.getValue().bitcastToAPInt();
  auto word = IntegerType::get(function_.getContext(), bits.getBitWidth());
  auto [alias, type] = asBits(fill.operation(), tile, word);
  line(fill.operation(), "pto.texpands ins(" + constant(IntegerAttr::get(word, bits)) + " : " +
                             types_.of(word) + ") outs(" + alias + " : " + type + ")");
  return true;
}

/// The scratch of a `tsel` or `tsels` as the version wants it. `tsels` writes one element of it, so
/// the rest of the row may be others'.
PtoFunctionEmitter::Operand PtoFunctionEmitter::scratchOf(Instruction select, unsigned number) {
  Value scratch = select.ins()[number];
  auto result = cast<TileBufType>(select.outs()[0].getType());
  bool isRow = select.id() == InstructionId::TSels;
  Type element = isRow ? result.getElementType() : IntegerType::get(function_.getContext(), 32);
  int64_t cols = isRow ? result.getCols() : cast<TileBufType>(scratch.getType()).getBytes() / 4;
  return asTile(select.operation(), scratch,
                TileBufType::get(function_.getContext(), ir::Place::Vec, 1, cols, element, 1, cols,
                                 cast<TileBufType>(scratch.getType()).getLayout()));
}

std::vector<PtoFunctionEmitter::Operand> PtoFunctionEmitter::inputsOf(Instruction instruction) {
  Operation *op = instruction.operation();
  InstructionId id = instruction.id();
  std::vector<Operand> operands;
  for (auto [number, value] : llvm::enumerate(instruction.ins())) {
    bool selects = id == InstructionId::TSel || id == InstructionId::TSels;
    if (selects && instruction.isScratch(static_cast<unsigned>(number)) &&
        has(PtoasChange::SelectScratch))
      operands.push_back(scratchOf(instruction, static_cast<unsigned>(number)));
    else
      operands.push_back({name(value), typeOf(value)});
  }
  if (id == InstructionId::TLrelu && !instruction.ins()[1].getType().isF32()) {
    // PTOAS takes the slope in f32, whatever the elements are.
    std::string slope = "%" + names_.fresh("slope");
    line(op, slope + " = arith.extf " + operands[1].name + " : " + operands[1].type + " to f32");
    operands[1] = {slope, "f32"};
  }
  if (id == InstructionId::TMrgSort && instruction.ins()[1].getType().isIndex()) {
    // A number in manual text; PTOAS takes the length of lists as an integer.
    std::string wide = "%" + names_.fresh("length_i64"), length = "%" + names_.fresh("length");
    line(op, wide + " = arith.index_cast " + operands[1].name + " : index to i64");
    line(op, length + " = arith.trunci " + wide + " : i64 to i32");
    operands[1] = {length, "i32"};
  }
  return operands;
}

std::vector<PtoFunctionEmitter::Operand> PtoFunctionEmitter::outputsOf(Instruction instruction) {
  std::vector<Operand> operands;
  for (Value value : instruction.outs())
    operands.push_back(instruction.id() == InstructionId::TExpands
                           ? withoutSign(instruction.operation(), value)
                           : Operand{name(value), typeOf(value)});
  if (instruction.id() == InstructionId::TMrgSortLists) {
    // How many of each list were merged: PTOAS wants a place for the counts.
    MLIRContext *context = function_.getContext();
    auto counts = VectorType::get({4}, IntegerType::get(context, 16));
    auto none = DenseElementsAttr::get(counts, static_cast<int16_t>(0));
    operands.push_back({constant(cast<TypedAttr>(none)), "vector<4xi16>"});
  }
  return operands;
}

void PtoFunctionEmitter::emitInstructionOp(Instruction instruction) {
  Operation *op = instruction.operation();
  InstructionId id = instruction.id();
  if (id == InstructionId::TCi && has(PtoasChange::TciByElement))
    return emitNumbers(instruction);
  if (id == InstructionId::TExpands && emitBits(instruction))
    return;
  findScratch(instruction);
  std::string attrs = attributes(instruction), text = spelled(op);
  bool inside = instruction.info().has(InstructionInfo::AttrsInside) && !attrs.empty() &&
                !(id == InstructionId::TCi && has(PtoasChange::TciAttributesLast));
  bool isMask = id == InstructionId::TGatherMask;
  auto list = [](llvm::ArrayRef<Operand> operands, const std::string &more,
                 const std::string &behind) {
    auto joined = [&](std::string Operand::*member) {
      return llvm::join(llvm::map_range(operands, [&](auto &each) { return each.*member; }), ", ");
    };
    return "(" + joined(&Operand::name) + more + " : " + joined(&Operand::type) + behind + ")";
  };
  std::vector<Operand> outputs = outputsOf(instruction), inputs = inputsOf(instruction);
  if (!inputs.empty())
    text += " ins" + list(inputs, inside ? (isMask ? ", " : " ") + attrs : "",
                          isMask && has(PtoasChange::MaskGatherAxis) ? ", \"row\"" : "");
  if (!outputs.empty())
    text += " outs" + list(outputs, "", "");
  if (!inside && !attrs.empty())
    text += " " + attrs;
  line(op, text);
}

} // namespace ptl::pto
