#include "codegen/pto/emit_cpp_instructions.h"

#include "codegen/pto/cpp_expressions.h"
#include "ir/ops/instruction_attributes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// A call that is not `LIBRARY(outs..., ins...)`, as `Cpp` in
/// ir/ops/instructions/instruction_base.td says.
struct CppForm {
  InstructionId id;
  llvm::StringLiteral when, text;
};

constexpr CppForm cppForms[] = {
#include "ir/ops/instruction_calls.inc"
};

/// The enumerator at the end of `#pto<cmp lt>` or `#pto.mask_pattern<P0101>`, the digits of a
/// number.
std::string enumerator(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return isa<BoolAttr>(attribute) ? (integer.getValue().isZero() ? "false" : "true")
                                    : std::to_string(integer.getInt());
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  llvm::StringRef name = llvm::StringRef(text).rtrim('>');
  return name.substr(name.find_last_of(" <") + 1).str();
}

std::string spelled(const InstructionAttribute &row, Operation *op) {
  Attribute attribute = op->getAttr(row.ptoas);
  if (!attribute)
    // An attribute that is not there has the default of the library.
    return std::string(row.cppDefault);
  std::string name = enumerator(attribute);
  switch (row.cppSpelling) {
  case CppSpelling::Upper:
    name = llvm::StringRef(name).upper();
    break;
  case CppSpelling::Camel:
    name = llvm::convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
    break;
  case CppSpelling::Cast:
    if (!llvm::StringRef(name).starts_with("CAST_"))
      name = "CAST_" + name;
    break;
  case CppSpelling::Same:
  case CppSpelling::Plain:
    break;
  }
  return std::string(row.cppPrefix) + name;
}

/// Replaces the `$` words of a form.
std::string fill(CppCode &code, Instruction instruction, llvm::StringRef form) {
  Operation *op = instruction.operation();
  OperandRange ins = instruction.ins(), outs = instruction.outs();
  std::string result;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '$') {
      result += form[i];
      continue;
    }
    llvm::StringRef word =
        form.drop_front(i + 1).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    i += word.size();
    // Words with a digit name one operand.
    bool numbered = word.size() == 2 && llvm::isDigit(word[1]);
    unsigned number = numbered ? static_cast<unsigned>(word[1] - '0') : 0;
    // `$i` is all inputs, `$i0` one of them, `$I0` its type, and `o` the same of outputs.
    if (word == "i") {
      for (auto [index, value] : llvm::enumerate(ins))
        result += (index ? ", " : "") + textOf(code, value);
    } else if (numbered && (word[0] == 'i' || word[0] == 'I')) {
      result += word[0] == 'i' ? textOf(code, ins[number]) : code.operandType(ins[number]);
    } else if (numbered && (word[0] == 'o' || word[0] == 'O')) {
      result += word[0] == 'o' ? textOf(code, outs[number]) : code.operandType(outs[number]);
    } else if (numbered && word[0] == 'E') {
      result += cppElement(cast<TileBufType>(outs[number].getType()).getElementType());
    } else {
      // Any other word is an attribute.
      for (const InstructionAttribute &row : instructionAttributes())
        if (row.ptoas == std::string_view(word))
          result += spelled(row, op);
    }
  }
  return result;
}

bool fits(const CppForm &form, Instruction instruction) {
  if (form.id != instruction.id())
    return false;
  if (form.when.empty())
    return true;
  if (form.when.front() == '#')
    // `#2` selects the form for two inputs.
    return instruction.ins().size() == static_cast<size_t>(form.when[1] - '0');
  return instruction.operation()->hasAttr(form.when);
}

/// Columns of results have rows in multiples of what fits 32 bytes, what is reduced has as many as
/// it has. The library's simulator takes no two tiles of different rows: the source goes in as a
/// tile of more, of which no more are valid.
bool emitReduction(CppCode &code, Instruction reduction) {
  Value source = reduction.ins()[0];
  auto from = cast<TileBufType>(source.getType()),
       to = cast<TileBufType>(reduction.outs()[0].getType());
  const CppExpression *address = code.addressOf(source);
  // Without a known address the source cannot be seen as a larger tile.
  if (from.getRows() >= to.getRows() || !address)
    return false;
  std::string name = code.names().of(source), rows = code.names().fresh(name + "_rows"), valid,
              inputs;
  // Valid extents that the type does not have are taken from the source at run time.
  if (from.getValidRows() == kDynamic)
    valid = name + ".GetValidRow()";
  if (from.getValidCols() == kDynamic)
    valid += (valid.empty() ? "" : ", ") + name + ".GetValidCol()";
  auto type = TileBufType::get(from.getContext(), from.getPlace(), to.getRows(), from.getCols(),
                               from.getElementType(), from.getValidRows(), from.getValidCols(),
                               from.getLayout());
  for (Value more : reduction.ins().drop_front())
    inputs += ", " + textOf(code, more);
  // The braces keep the tile's name to this statement.
  code.line(reduction.operation(),
            "{ " + code.types().tile(type) + " " + rows + (valid.empty() ? "" : "(" + valid + ")") +
                "; TASSIGN(" + rows + ", " + address->text + "); " +
                std::string(reduction.info().cppName) + "(" + textOf(code, reduction.outs()[0]) +
                ", " + rows + inputs + "); }");
  return true;
}

} // namespace

void emitInstruction(CppCode &code, Instruction instruction) {
  Operation *op = instruction.operation();
  switch (instruction.id()) {
  case InstructionId::TRowSum:
  case InstructionId::TRowMax:
  case InstructionId::TRowMin:
  case InstructionId::TRowProd:
    if (emitReduction(code, instruction))
      return;
    break;
  default:
    break;
  }
  // Forms are tried in their order, since special ones come before general ones.
  for (const CppForm &form : cppForms)
    if (fits(form, instruction)) {
      std::string statement = fill(code, instruction, form.text);
      // A block needs no semicolon.
      return code.line(op, statement + (statement.back() == '}' ? "" : ";"));
    }
  std::string arguments;
  for (Value value : instruction.outs())
    arguments += (arguments.empty() ? "" : ", ") + textOf(code, value);
  for (Value value : instruction.ins())
    arguments += (arguments.empty() ? "" : ", ") + textOf(code, value);
  code.line(op, std::string(instruction.info().cppName) + "(" + arguments + ");");
}

} // namespace ptl::pto
