// The instruction records as plain values, read from TableGen and checked.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace llvm {
class RecordKeeper;
} // namespace llvm

namespace ptl::tblgen {

/// Mirrors the class `Operand` of ir/ops/instructions/instruction_base.td.
struct InstructionOperand {
  std::string letter;
  std::string extents;
  std::string place; ///< enumerator of `Place`
  bool counts;
  bool optional;
};

struct CppCall {
  std::string when;
  std::string text;
};

struct Instruction {
  std::string id; ///< `TRowSum`
  std::string mnemonic;
  std::string library;
  std::string summary;
  std::string pipe;     ///< enumerator of `Pipe`
  std::string pipeRule; ///< enumerator of `PipeRule`
  std::vector<InstructionOperand> ins, outs;
  std::vector<std::string> flags;      ///< enumerators of `InstructionInfo::Flag`
  std::vector<std::string> attributes; ///< names of their records
  std::vector<CppCall> cpp;
  std::string executor; ///< empty: not simulated
  std::vector<std::string> facts;
};

struct InstructionAttribute {
  std::string id; ///< name of its record
  std::string name;
  std::string ptoas;
  std::string ir;
  std::string kind;                                       ///< enumerator of `AttributeKind`
  std::vector<std::pair<std::string, std::string>> words; ///< with the enumerator of the IR
  std::vector<std::string> instructions;                  ///< ids of those that take it
  std::string cppPrefix;
  std::string cppSpelling; ///< enumerator of `CppSpelling`
  std::string cppDefault;
};

struct InstructionSet {
  std::vector<Instruction> instructions;
  std::vector<InstructionAttribute> attributes;
};

/// All records in order of definition. For an incomplete or contradictory record the tool exits
/// with an error message at its place in the file.
InstructionSet readInstructions(const llvm::RecordKeeper &records);

} // namespace ptl::tblgen
