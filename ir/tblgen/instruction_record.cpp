#include "ir/tblgen/instruction_record.h"

#include "ir/tblgen/record_fields.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace ptl::tblgen {
namespace {

/// `Acc` for `acc`; nothing for nothing.
std::string capitalised(std::string text) {
  if (!text.empty())
    text[0] = toUpper(text[0]);
  return text;
}

std::vector<InstructionOperand> readOperands(const Record &record, StringRef field) {
  std::vector<InstructionOperand> operands;
  for (const Record *each : record.getValueAsListOfDefs(field)) {
    InstructionOperand operand{str(*each, "letter"), str(*each, "extents"),
                               capitalised(str(*each, "place")), each->getValueAsBit("counts"),
                               each->getValueAsBit("optional")};
    bool isTile = operand.letter == "t" || operand.letter == "x" || operand.letter == "v";
    bool fits =
        isTile ? operand.extents == "*" || operand.extents.size() == 2 : operand.extents == ".";
    if (!fits)
      PrintFatalError(&record, "the extents of an operand are two letters or `*`");
    operands.push_back(operand);
  }
  return operands;
}

std::vector<std::string> readFlags(const Record &record) {
  static constexpr std::pair<const char *, const char *> fields[] = {
      {"inPlace", "InPlace"},       {"readsOut", "ReadsOut"}, {"attributesInside", "AttrsInside"},
      {"writesPart", "WritesPart"}, {"isMove", "Move"},       {"eitherOrder", "EitherOrder"}};
  std::vector<std::string> flags;
  for (auto [field, name] : fields)
    if (record.getValueAsBit(field))
      flags.push_back(name);
  return flags;
}

/// Whether `when` can hold, and whether every `$` word of `text` stands for something.
void checkCall(const Record &record, const CppCall &call, const Instruction &instruction,
               const StringSet<> &attributes) {
  StringRef when = call.when, text = call.text;
  if (text.empty())
    PrintFatalError(&record, "a call in C++ needs its text");
  bool isCount = when.size() == 2 && when[0] == '#' && isDigit(when[1]);
  if (!when.empty() && !isCount && !attributes.contains(when))
    PrintFatalError(&record, "a call in C++ is for `" + when + "`, which is no attribute of it");
  for (text = text.split('$').second; !text.empty(); text = text.split('$').second) {
    StringRef word = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    size_t number = word.size() == 2 && isDigit(word[1]) ? size_t(word[1] - '0') : 9;
    bool isOperand =
        word == "i" ||
        (StringRef("iI").contains(word.take_front(1)) && number < instruction.ins.size()) ||
        (StringRef("oOE").contains(word.take_front(1)) && number < instruction.outs.size());
    if (!isOperand && !attributes.contains(word))
      PrintFatalError(&record, "`$" + word + "` stands for no operand and no attribute");
  }
}

Instruction readInstruction(const Record &record) {
  Instruction result;
  result.id = record.getName().str();
  result.mnemonic = str(record, "mnemonic");
  result.library = str(record, "library");
  result.summary = str(record, "summary");
  if (result.mnemonic.empty() || result.library.empty() || result.summary.empty())
    PrintFatalError(&record, "an instruction needs a mnemonic, a function and a summary");
  const Record *pipe = record.getValueAsDef("pipe");
  result.pipe = str(*pipe, "name");
  result.pipeRule = str(*pipe, "rule");
  result.ins = readOperands(record, "ins");
  result.outs = readOperands(record, "outs");
  result.flags = readFlags(record);
  StringSet<> attributes;
  for (const Record *attribute : record.getValueAsListOfDefs("attributes")) {
    result.attributes.push_back(attribute->getName().str());
    attributes.insert(attribute->getValueAsString("ptoas"));
  }
  for (const Record *call : record.getValueAsListOfDefs("cpp")) {
    result.cpp.push_back({str(*call, "when"), str(*call, "text")});
    checkCall(record, result.cpp.back(), result, attributes);
  }
  const Record *semantics = record.getValueAsDef("semantics");
  result.executor = str(*semantics, "executor");
  result.facts = strings(*semantics, "facts");
  return result;
}

InstructionAttribute readAttribute(const Record &record,
                                   const std::vector<Instruction> &instructions) {
  InstructionAttribute result;
  result.id = record.getName().str();
  result.name = str(record, "name");
  result.ptoas = str(record, "ptoas");
  result.ir = str(record, "ir");
  result.kind = str(record, "kind");
  for (StringRef text : record.getValueAsListOfStrings("words")) {
    auto [word, enumerator] = text.split('=');
    result.words.emplace_back(word, enumerator.empty() ? word : enumerator);
  }
  bool isWord = result.kind == "Word";
  if (isWord == result.words.empty() || isWord != StringRef(result.ir).contains('$'))
    PrintFatalError(&record, "a choice has words and a spelling in the IR with `$`, others none");
  for (const Instruction &instruction : instructions)
    if (is_contained(instruction.attributes, result.id))
      result.instructions.push_back(instruction.id);
  if (result.instructions.empty())
    PrintFatalError(&record, "no instruction takes this attribute");
  result.cppPrefix = str(record, "cppPrefix");
  result.cppSpelling = str(record, "cppSpelling");
  result.cppDefault = str(record, "cppDefault");
  return result;
}

} // namespace

InstructionSet readInstructions(const RecordKeeper &records) {
  InstructionSet set;
  StringSet<> mnemonics;
  for (const Record *record : recordsOf(records, "Instruction")) {
    set.instructions.push_back(readInstruction(*record));
    if (!mnemonics.insert(set.instructions.back().mnemonic).second)
      PrintFatalError(record, "another instruction has this mnemonic");
  }
  for (const Record *record : recordsOf(records, "Attribute"))
    set.attributes.push_back(readAttribute(*record, set.instructions));
  return set;
}

} // namespace ptl::tblgen
