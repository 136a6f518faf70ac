// The tile instructions of PTO as all their readers see them: the records of
// `ir/ops/instructions/*.td`, turned into constant data by `ptl-tblgen`. Standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ptl {

/// The queues of a core. Instructions of one pipe run in program order; different pipes run at the
/// same time and are ordered by events only. `S` is the scalar unit, which issues to the others.
enum class Pipe : uint8_t { S, V, M, MTE1, MTE2, MTE3, FIX, All };
inline constexpr size_t kNumPipes = 7;
/// `mte2`: as the language and the machine files spell it. PTOAS writes `PIPE_MTE2`.
inline constexpr std::string_view pipeNames[] = {"s",    "v",    "m",   "mte1",
                                                 "mte2", "mte3", "fix", "all"};
inline constexpr std::string_view pipeName(Pipe pipe) {
  return pipeNames[static_cast<size_t>(pipe)];
}

/// How the pipe of an instruction follows from the places of its operands, if it does: as that of
/// moves, of stores, or of what fills a tile.
enum class PipeRule : uint8_t { Fixed, OfMove, OfStore, OfFill };

enum class InstructionId : uint8_t {
#define PTL_INSTRUCTION(ID, MNEMONIC) ID,
#include "ir/ops/instruction_ids.inc"
#undef PTL_INSTRUCTION
};

struct InstructionInfo {
  enum Flag : uint8_t {
    InPlace = 1,     ///< a tile of `outs` may be the same bytes as an input of its size
    ReadsOut = 2,    ///< the result also depends on what `outs` held
    AttrsInside = 4, ///< attributes are written inside `ins(...)`
    WritesPart = 8,  ///< some of what is valid of `outs` may stay as it was
    Move = 16,       ///< which types and layouts it takes stands under `moves` of a machine
    EitherOrder = 32 ///< its tile and its scalar may change places
  };

  InstructionId id;
  std::string_view mnemonic; ///< as PTOAS spells it; manual kernels have `_` for `.`
  std::string_view cppName;  ///< of its function in the PTO-ISA library
  Pipe pipe;                 ///< meaningful if the rule is `Fixed`
  PipeRule pipeRule;
  /// One letter per operand: `t` tile, `x` scratch tile (contents do not matter before or after),
  /// `s` scalar of the element type, `i` position or count, `v` view of global memory; `?` after a
  /// letter makes it optional.
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

inline constexpr InstructionInfo instructions[] = {
#include "ir/ops/instruction_table.inc"
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
