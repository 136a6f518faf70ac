// The table of PTO instructions (`instructions.def`) for all its readers. Standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ptl {

/// The queues of a core. Instructions of one pipe run in program order; different pipes run at the
/// same time and are ordered by events only. `S` is the scalar unit, which issues to the others.
enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, All };
inline constexpr size_t numPipes = 7;
/// `mte2`: as the language and the machine files spell it. PTOAS writes `PIPE_MTE2`.
inline constexpr std::string_view pipeNames[] = {"s",    "v",    "m",   "mte1",
                                                 "mte2", "mte3", "fix", "all"};
inline constexpr std::string_view pipeName(Pipe pipe) {
  return pipeNames[static_cast<size_t>(pipe)];
}

enum class InstructionId : uint8_t {
#define INSTRUCTION(id, mnemonic, library, pipe, ins, outs, flags, summary) id,
#include "ir/ops/instructions.def"
};

struct InstructionInfo {
  enum Flag : uint8_t { InPlace = 1, ReadsOut = 2, AttrsInside = 4 };

  InstructionId id;
  std::string_view mnemonic;
  std::string_view cppName; ///< of its function in the PTO-ISA library
  Pipe pipe;                ///< meaningful unless `byPlace`
  bool byPlace;             ///< the pipe follows from the places of the operands
  std::string_view ins, outs;
  uint8_t flags;
  std::string_view summary;

  constexpr bool has(Flag flag) const { return flags & flag; }
  /// Counts of operands; optional ones are in `max` only.
  constexpr size_t minIns() const { return count(ins, false); }
  constexpr size_t maxIns() const { return count(ins, true); }
  constexpr size_t numOuts() const { return count(outs, true); }
  /// The letter of the `index`-th operand of `spec` (`ins` or `outs`), optional ones counted; 0
  /// beyond.
  static constexpr char letter(std::string_view spec, size_t index) {
    for (char c : spec)
      if (c != '?' && index-- == 0)
        return c;
    return 0;
  }

private:
  static constexpr size_t count(std::string_view spec, bool optional) {
    size_t n = 0;
    for (size_t i = 0; i < spec.size(); ++i)
      if (spec[i] != '?' && (optional || i + 1 == spec.size() || spec[i + 1] != '?'))
        ++n;
    return n;
  }
};

namespace detail {
enum class RowPipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, ByPlace };
constexpr InstructionInfo row(InstructionId id, std::string_view mnemonic, std::string_view library,
                              RowPipe pipe, std::string_view ins, std::string_view outs, int flags,
                              std::string_view summary) {
  bool byPlace = pipe == RowPipe::ByPlace;
  return {id,      mnemonic, library, byPlace ? Pipe::S : static_cast<Pipe>(pipe),
          byPlace, ins,      outs,    static_cast<uint8_t>(flags),
          summary};
}
inline constexpr int InPlace = InstructionInfo::InPlace, ReadsOut = InstructionInfo::ReadsOut,
                     AttrsInside = InstructionInfo::AttrsInside;
} // namespace detail

inline constexpr InstructionInfo instructions[] = {
#define INSTRUCTION(id, mnemonic, library, pipe, ins, outs, flags, summary)                        \
  [] {                                                                                             \
    using namespace detail;                                                                        \
    return row(InstructionId::id, mnemonic, library, RowPipe::pipe, ins, outs, flags, summary);    \
  }(),
#include "ir/ops/instructions.def"
};

inline constexpr const InstructionInfo &instructionInfo(InstructionId id) {
  return instructions[static_cast<size_t>(id)];
}

/// The first row of that mnemonic, null if there is none.
constexpr const InstructionInfo *findInstruction(std::string_view mnemonic) {
  for (const InstructionInfo &info : instructions)
    if (info.mnemonic == mnemonic)
      return &info;
  return nullptr;
}

} // namespace ptl
