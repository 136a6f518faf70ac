#include "codegen/pto/emit_pto_instructions.h"

#include "codegen/pto/pto_tiles.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// Whether a conversion may meet values that have too many bits for its result.
bool narrows(Instruction instruction) {
  if (instruction.id() != InstructionId::TCvt)
    return false;
  auto elementOf = [](Value tile) { return cast<TileBufType>(tile.getType()).getElementType(); };
  Type from = elementOf(instruction.ins()[0]), to = elementOf(instruction.outs()[0]);
  return (from.isF32() && to.isInteger(16)) ||
         (from.isF16() && (to.isInteger(16) || to.isInteger(8)));
}

/// ` {cmpMode = #pto<cmp lt>}` without what is ours.
std::string attributesOf(PtoCode &code, Instruction instruction) {
  Operation *op = instruction.operation();
  std::string text;
  llvm::raw_string_ostream out(text);
  for (NamedAttribute attribute : op->getAttrs()) {
    // Those are notes of the compiler to itself, which PTOAS does not know.
    if (attribute.getName().strref().starts_with("ptl."))
      continue;
    out << (text.empty() ? "{" : ", ") << attribute.getName().strref() << " = "
        << attribute.getValue();
  }
  if (narrows(instruction) && code.has(PtoasChange::NarrowingSaturates) &&
      !op->hasAttr("sat_mode") && instruction.ins().size() == 1)
    out << (text.empty() ? "{" : ", ")
        << "sat_mode = " << SaturationModeAttr::get(op->getContext(), SaturationMode::ON);
  return text.empty() ? text : text + "}";
}

/// Says where the assembler refuses the elements that an instruction moves.
void findElements(PtoCode &code, Instruction instruction) {
  if (instruction.id() != InstructionId::TStore)
    return;
  auto type = dyn_cast<TileBufType>(instruction.ins()[0].getType());
  bool isShort = type && isa<FloatType>(type.getElementType()) &&
                 type.getElementType().getIntOrFloatBitWidth() == 8;
  if (isShort && type.getPlace() == ir::Place::Vec)
    code.missing(instruction.operation(),
                 "PTOAS refuses a `tstore` of 8-bit floats from `vec`, for which it takes `i8` to "
                 "`i64`, `f16`, `bf16` and `f32`; `--emit=cpp` writes it for the PTO-ISA library");
}

/// An instruction whose tiles PTOAS wants to have as many rows and columns as its result has, though
/// the library takes those whose valid extents agree.
struct SameShape {
  InstructionId id;
  size_t inputs;          ///< how many of the first ones
  llvm::StringLiteral on; ///< the chips: `--pto-arch`, empty for all
};

constexpr SameShape sameShapes[] = {
    {InstructionId::TCvt, 1, ""},          {InstructionId::TCmp, 2, "a5"},
    {InstructionId::TMov, 1, "a3"},        {InstructionId::TAxpy, 1, ""},
    {InstructionId::TPrelu, 2, ""},        {InstructionId::TColExpandAdd, 1, ""},
    {InstructionId::TColExpandSub, 1, ""}, {InstructionId::TColExpandMul, 1, ""},
    {InstructionId::TColExpandDiv, 1, ""}, {InstructionId::TColExpandMax, 1, ""},
    {InstructionId::TColExpandMin, 1, ""}, {InstructionId::TColExpandExpdif, 1, ""},
    {InstructionId::TPartMax, 2, ""},      {InstructionId::TPartMin, 2, ""},
};

/// Says where the assembler refuses the shapes that tiles have.
void findShapes(PtoCode &code, Instruction instruction) {
  auto isVector = [](Value tile) {
    auto type = dyn_cast<TileBufType>(tile.getType());
    return type && type.getPlace() == ir::Place::Vec;
  };
  auto shapeOf = [&](Value tile) {
    TileBufType type = code.tileTypeOf(tile);
    return std::to_string(type.getRows()) + " x " + std::to_string(type.getCols());
  };
  for (const SameShape &row : sameShapes) {
    bool isOther = row.id != instruction.id() ||
                   (!row.on.empty() && row.on != llvm::StringRef(code.machine().tools.ptoas));
    if (isOther || !isVector(instruction.outs()[0]))
      continue;
    std::string wanted = shapeOf(instruction.outs()[0]);
    for (Value input : instruction.ins().take_front(row.inputs))
      if (isVector(input) && shapeOf(input) != wanted)
        code.missing(instruction.operation(),
                     "PTOAS wants the tiles of `" + std::string(instruction.info().mnemonic) +
                         "` to have the shape of its result, " + wanted + ", and one is " +
                         shapeOf(input) + "; `--emit=cpp` writes it for the PTO-ISA library");
  }
}

/// Says where the version wants scratch that an expert's code does not give.
void findScratch(PtoCode &code, Instruction instruction) {
  Operation *op = instruction.operation();
  if (narrows(instruction) && code.has(PtoasChange::NarrowingSaturates) &&
      instruction.ins().size() == 1) {
    auto mode = op->getAttrOfType<SaturationModeAttr>("sat_mode");
    if (mode && mode.getValue() == SaturationMode::OFF)
      code.missing(op,
                   "this version of PTOAS wants scratch for a `tcvt` that does not saturate: give "
                   "it a second operand, or leave out `saturate`");
  }
  if (instruction.id() == InstructionId::TSort32 && code.has(PtoasChange::SortScratch) &&
      instruction.ins().size() == 2) {
    constexpr int64_t block = 32;
    Value values = instruction.ins()[0];
    TileBufType type = code.tileTypeOf(values);
    // Whole blocks are sorted in place; for the rest of a row the instruction needs room.
    if (type.getValidCols() == kDynamic || type.getValidCols() % block)
      code.missing(op, "this version of PTOAS wants scratch for a `tsort32` whose width is not a "
                       "constant multiple of 32: give it a third operand");
  }
}

/// Consecutive numbers one by one, on the pipe of scalars.
void emitNumbers(PtoCode &code, Instruction tci) {
  Operation *op = tci.operation();
  auto type = cast<TileBufType>(tci.outs()[0].getType());
  auto [tile, tileType] = withoutSign(code, op, tci.outs()[0]);
  Value first = tci.ins()[0];
  std::string element = code.typeOf(first), at = code.fresh("at");
  auto descending = op->getAttrOfType<BoolAttr>("descending");
  code.body().add("scf.for " + at + " = " + code.indexConstant(0) + " to " +
                      code.indexConstant(type.getCols()) + " step " + code.indexConstant(1) + " {",
                  placeOf(op));
  code.body().indent(2);
  std::string wide = code.fresh("at_i64"), step = code.fresh("step"), number = code.fresh("number");
  code.line(op, wide + " = arith.index_cast " + at + " : index to i64");
  code.line(op, step + " = arith.trunci " + wide + " : i64 to " + element);
  code.line(op, number +
                    (descending && descending.getValue() ? " = arith.subi " : " = arith.addi ") +
                    code.name(first) + ", " + step + " : " + element);
  code.line(op, "pto.tsetval ins(" + at + ", " + number + " : index, " + element + ") outs(" +
                    tile + " : " + tileType + ")");
  code.body().dedent(2);
  code.line(op, "}");
}

/// A fill with a number that is no constant for PTOAS (`constantOfBits`): with its bits, which are.
bool emitBits(PtoCode &code, Instruction fill) {
  FloatAttr real;
  Value tile = fill.outs()[0];
  if (!matchPattern(fill.ins()[0], m_Constant(&real)) || real.getValue().isFinite() ||
      !code.addressOf(tile))
    return false;
  llvm::APInt bits = real.getValue().bitcastToAPInt();
  auto word = IntegerType::get(code.function().getContext(), bits.getBitWidth());
  auto [alias, type] = asBits(code, fill.operation(), tile, word);
  code.line(fill.operation(), "pto.texpands ins(" + code.constant(IntegerAttr::get(word, bits)) +
                                  " : " + code.typeText(word) + ") outs(" + alias + " : " + type +
                                  ")");
  return true;
}

/// The scratch of a `tsel` or `tsels` as the version wants it. `tsels` writes one element of it, so
/// the rest of the row may be others'.
PtoOperand scratchOf(PtoCode &code, Instruction select, unsigned number) {
  Value scratch = select.ins()[number];
  auto result = cast<TileBufType>(select.outs()[0].getType());
  bool isRow = select.id() == InstructionId::TSels;
  Type element =
      isRow ? result.getElementType() : IntegerType::get(code.function().getContext(), 32);
  int64_t cols = isRow ? result.getCols() : cast<TileBufType>(scratch.getType()).getBytes() / 4;
  return asTile(code, select.operation(), scratch,
                TileBufType::get(code.function().getContext(), ir::Place::Vec, 1, cols, element, 1,
                                 cols, cast<TileBufType>(scratch.getType()).getLayout()));
}

std::vector<PtoOperand> inputsOf(PtoCode &code, Instruction instruction) {
  Operation *op = instruction.operation();
  InstructionId id = instruction.id();
  std::vector<PtoOperand> operands;
  for (auto [number, value] : llvm::enumerate(instruction.ins())) {
    bool selects = id == InstructionId::TSel || id == InstructionId::TSels;
    if (selects && instruction.isScratch(static_cast<unsigned>(number)) &&
        code.has(PtoasChange::SelectScratch))
      operands.push_back(scratchOf(code, instruction, static_cast<unsigned>(number)));
    else
      operands.push_back({code.name(value), code.typeOf(value)});
  }
  if (id == InstructionId::TLrelu && !instruction.ins()[1].getType().isF32()) {
    // PTOAS takes the slope in f32, whatever the elements are.
    std::string slope = code.fresh("slope");
    code.line(op,
              slope + " = arith.extf " + operands[1].name + " : " + operands[1].type + " to f32");
    operands[1] = {slope, "f32"};
  }
  if (id == InstructionId::TMrgSort && instruction.ins()[1].getType().isIndex()) {
    // A number in manual text; PTOAS takes the length of lists as an integer.
    std::string wide = code.fresh("length_i64"), length = code.fresh("length");
    code.line(op, wide + " = arith.index_cast " + operands[1].name + " : index to i64");
    code.line(op, length + " = arith.trunci " + wide + " : i64 to i32");
    operands[1] = {length, "i32"};
  }
  return operands;
}

std::vector<PtoOperand> outputsOf(PtoCode &code, Instruction instruction) {
  std::vector<PtoOperand> operands;
  for (Value value : instruction.outs())
    operands.push_back(instruction.id() == InstructionId::TExpands
                           ? withoutSign(code, instruction.operation(), value)
                           : PtoOperand{code.name(value), code.typeOf(value)});
  if (instruction.id() == InstructionId::TMrgSortLists) {
    // How many of each list were merged: PTOAS wants a place for the counts.
    MLIRContext *context = code.function().getContext();
    auto counts = VectorType::get({4}, IntegerType::get(context, 16));
    auto none = DenseElementsAttr::get(counts, static_cast<int16_t>(0));
    operands.push_back({code.constant(cast<TypedAttr>(none)), "vector<4xi16>"});
  }
  return operands;
}

} // namespace

void emitInstruction(PtoCode &code, Instruction instruction) {
  Operation *op = instruction.operation();
  InstructionId id = instruction.id();
  if (id == InstructionId::TCi && code.has(PtoasChange::TciByElement))
    return emitNumbers(code, instruction);
  if (id == InstructionId::TExpands && emitBits(code, instruction))
    return;
  findScratch(code, instruction);
  findElements(code, instruction);
  findShapes(code, instruction);
  std::string attrs = attributesOf(code, instruction), text = code.spelled(op);
  // Some instructions have their attributes behind the inputs, where they belong to them, others
  // behind everything.
  bool inside = instruction.info().has(InstructionInfo::AttrsInside) && !attrs.empty() &&
                !(id == InstructionId::TCi && code.has(PtoasChange::TciAttributesLast));
  // The syntax differs between instructions and versions of the assembler; `PtoasChange` lists what
  // changed when.
  bool isMask = id == InstructionId::TGatherMask;
  auto list = [](llvm::ArrayRef<PtoOperand> operands, const std::string &more,
                 const std::string &behind) {
    auto joined = [&](std::string PtoOperand::*member) {
      return llvm::join(llvm::map_range(operands, [&](auto &each) { return each.*member; }), ", ");
    };
    return "(" + joined(&PtoOperand::name) + more + " : " + joined(&PtoOperand::type) + behind +
           ")";
  };
  std::vector<PtoOperand> outputs = outputsOf(code, instruction),
                          inputs = inputsOf(code, instruction);
  if (!inputs.empty())
    text += " ins" + list(inputs, inside ? (isMask ? ", " : " ") + attrs : "",
                          isMask && code.has(PtoasChange::MaskGatherAxis) ? ", \"row\"" : "");
  if (!outputs.empty())
    text += " outs" + list(outputs, "", "");
  if (!inside && !attrs.empty())
    text += " " + attrs;
  code.line(op, text);
}

} // namespace ptl::pto
