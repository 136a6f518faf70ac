#include "ir/tblgen/backends.h"
#include "ir/tblgen/cpp_text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace ptl::tblgen {
namespace {

/// The letters of operands, with `?` behind optional ones.
std::string lettersOf(const std::vector<InstructionOperand> &operands) {
  std::string letters;
  for (const InstructionOperand &operand : operands)
    letters += operand.letter + (operand.optional ? "?" : "");
  return letters;
}

std::string flagsOf(const Instruction &instruction) {
  std::vector<std::string> names;
  for (const std::string &name : instruction.flags)
    names.push_back("InstructionInfo::" + name);
  return names.empty() ? "0" : join(names, " | ");
}

std::string emitShapes(const std::string &name, const std::vector<InstructionOperand> &operands,
                       raw_ostream &os) {
  std::vector<std::string> items;
  for (const InstructionOperand &operand : operands) {
    bool isScalar = operand.extents == ".", isFree = operand.extents.size() != 2;
    auto extent = [&](size_t axis) {
      return std::string("'") + (isFree ? '*' : operand.extents[axis]) + "'";
    };
    items.push_back("{Place::" + (operand.place.empty() ? "Inferred" : operand.place) + ", " +
                    extent(0) + ", " + extent(1) + ", " + flag(isScalar) + ", " +
                    flag(operand.counts) + "}");
  }
  return array(os, "OperandShape", name, items);
}

} // namespace

void emitInstructionIds(const InstructionSet &set, raw_ostream &os) {
  for (const Instruction &each : set.instructions)
    os << "PTL_INSTRUCTION(" << each.id << ", " << quoted(each.mnemonic) << ")\n";
}

void emitInstructionTable(const InstructionSet &set, raw_ostream &os) {
  for (const Instruction &each : set.instructions)
    os << "{InstructionId::" << each.id << ", " << quoted(each.mnemonic) << ", "
       << quoted(each.library) << ", Pipe::" << each.pipe << ", PipeRule::" << each.pipeRule << ", "
       << quoted(lettersOf(each.ins)) << ", " << quoted(lettersOf(each.outs)) << ", "
       << flagsOf(each) << ", " << quoted(each.summary) << "},\n";
}

void emitInstructionShapes(const InstructionSet &set, raw_ostream &os) {
  std::string table;
  for (const Instruction &each : set.instructions) {
    std::string outs = emitShapes("outs" + each.id, each.outs, os);
    table += "    {" + outs + ", " + emitShapes("ins" + each.id, each.ins, os) + "},\n";
  }
  os << "static constexpr InstructionShape instructionShapes[] = {\n" << table << "};\n";
}

void emitInstructionAttributes(const InstructionSet &set, raw_ostream &os) {
  std::string table;
  for (const InstructionAttribute &each : set.attributes) {
    std::vector<std::string> words, ids;
    for (const auto &[word, enumerator] : each.words)
      words.push_back("{" + quoted(word) + ", " + quoted(enumerator) + "}");
    for (const std::string &id : each.instructions)
      ids.push_back("InstructionId::" + id);
    std::string wordArray = array(os, "AttributeWord", "wordsOf" + each.id, words);
    std::string idArray = array(os, "InstructionId", "takersOf" + each.id, ids);
    table += "    {" + quoted(each.name) + ", " + quoted(each.ptoas) + ", " + quoted(each.ir) +
             ", AttributeKind::" + each.kind + ", " + wordArray + ", " + idArray + ", " +
             quoted(each.cppPrefix) + ", CppSpelling::" + each.cppSpelling + ", " +
             quoted(each.cppDefault) + "},\n";
  }
  os << "static constexpr InstructionAttribute attributeTable[] = {\n" << table << "};\n";
}

void emitInstructionSemantics(const InstructionSet &set, raw_ostream &os) {
  std::set<std::string> tables; // of executors that know facts
  for (const Instruction &each : set.instructions)
    if (!each.facts.empty())
      tables.insert(StringRef(each.executor).upper());
  os << "#ifndef SEMANTICS\n#define SEMANTICS(...)\n#endif\n";
  for (const std::string &name : tables)
    os << "#ifndef " << name << "\n#define " << name << "(...)\n#endif\n";
  for (const Instruction &each : set.instructions) {
    if (each.executor.empty())
      continue;
    os << "SEMANTICS(" << each.id << ", execute" << each.executor << ")\n";
    if (!each.facts.empty())
      os << StringRef(each.executor).upper() << '(' << each.id << ", " << join(each.facts, ", ")
         << ")\n";
  }
  os << "#undef SEMANTICS\n";
  for (const std::string &name : tables)
    os << "#undef " << name << '\n';
}

void emitInstructionCalls(const InstructionSet &set, raw_ostream &os) {
  for (const Instruction &each : set.instructions)
    for (const CppCall &call : each.cpp)
      os << "{InstructionId::" << each.id << ", " << quoted(call.when) << ", " << quoted(call.text)
         << "},\n";
}

} // namespace ptl::tblgen
