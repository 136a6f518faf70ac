// The attributes of instructions, besides operands
// (`ir/ops/instructions/instruction_attributes.td`).
#pragma once

#include "ir/ops/instruction_table.h"

#include <algorithm>
#include <span>

namespace ptl {

/// A `.word` of a manual kernel, and its enumerator in IR.
struct AttributeWord {
  std::string_view word, enumerator;
};

enum class AttributeKind : uint8_t { Word, Bool, Int };

/// How C++ spells an enumerator of the IR: unchanged, `LT` for `lt`, `AtomicAdd` for `atomic_add`,
/// `CAST_RINT` for `RINT`; constants are plain.
enum class CppSpelling : uint8_t { Same, Upper, Camel, Cast, Plain };

struct InstructionAttribute {
  std::string_view name;  ///< of the argument of manual kernels
  std::string_view ptoas; ///< of the attribute, here and in PTOAS
  std::string_view ir;    ///< its text, with `$` for the enumerator; empty for constants
  AttributeKind kind;
  std::span<const AttributeWord> words;
  std::span<const InstructionId> instructions; ///< the instructions that have this attribute
  std::string_view cppPrefix;                  ///< before the enumerator
  CppSpelling cppSpelling;
  std::string_view cppDefault; ///< in C++ if the attribute is absent

  bool isTakenBy(InstructionId id) const {
    return std::ranges::find(instructions, id) != instructions.end();
  }
};

/// In order of definition.
std::span<const InstructionAttribute> instructionAttributes();

} // namespace ptl
