// Machines are data: `machines/*.json`, validated against `schema.json`. No capacity or core count
// is hard-coded. docs/machines.md gives the source of each figure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl {

/// Element types of the operands of one form of an instruction: inputs, then the result. A single
/// name means that all tiles have that type; masks, positions and scratch tiles are not listed.
using TypeRow = std::vector<std::string>;
using NamePair = std::pair<std::string, std::string>;

struct MachineCore {
  std::string kind;
  int64_t count = 0;              ///< 0: as many as the host has, or not published
  std::vector<std::string> pipes; ///< `mte2`, as the language spells them
};

struct MachineVariant {
  std::string name;
  int64_t clockMhz = 0;
  std::vector<MachineCore> cores; ///< counts only
};

/// The inner box of boxed layouts: `rows` rows of `bytes` bytes each. In `zn` and `nn` the box is
/// transposed.
struct Fractal {
  int64_t rows = 0, bytes = 0;
};

struct MemorySpace {
  std::string place;              ///< `vec`, as after `@` in the language
  int64_t bytes = 0;              ///< of one core; 0: no limit
  int64_t reserved = 0;           ///< at the end, unavailable to kernels
  int64_t alignment = 1;          ///< of the addresses of buffers, in bytes
  std::string core;               ///< the kind of core that it belongs to; empty: all
  std::optional<Fractal> fractal; ///< of boxed layouts
  std::vector<std::string> layouts;

  /// Bytes available to buffers of a kernel; 0: no limit.
  int64_t usableBytes() const { return bytes - reserved; }
  bool hasLayout(std::string_view layout) const;
  /// The default layout of buffers; empty if the file names none.
  std::string_view usualLayout() const {
    return layouts.empty() ? std::string_view() : std::string_view(layouts.front());
  }
};

/// Block-scaled products take the addresses of their factors and find the scales by themselves:
/// those of a factor at address `a` of `left` are at `a >> kScaleAddressShift` of `scaleleft`, and
/// likewise for `right`.
inline constexpr int64_t kScaleAddressShift = 4;

/// A legal move from one memory to another.
struct Move {
  std::string from, to;
  std::string core; ///< the kind of core that issues it
  std::string pipe;
  std::vector<std::string> instructions;
  std::vector<NamePair> layouts;     ///< from, to
  std::vector<std::string> types;    ///< moved unchanged
  std::vector<NamePair> conversions; ///< converted on the way
  std::vector<NamePair> quantized;   ///< converted on the way, with a scale factor

  /// Whether elements of type `source` can arrive as `result` without a scale factor.
  bool carries(std::string_view source, std::string_view result) const;
  bool carriesQuantized(std::string_view source, std::string_view result) const;
  bool hasLayouts(std::string_view source, std::string_view result) const;
  bool hasInstruction(std::string_view name) const;
};

struct InstructionTypes {
  std::string name; ///< as PTOAS spells it: `tmatmul.acc`
  std::vector<TypeRow> rows;
};

struct CrossCoreFlags {
  int64_t flags = 0; ///< per cluster; 0: the machine has none
  std::vector<int64_t> reserved;
  int64_t countMax = 0; ///< the maximal value of a flag's counter
};

/// How cube and vector cores exchange tiles.
struct CoreExchange {
  bool throughBuffer = false; ///< else through a ring in global memory
  int64_t vectorPerCube = 0;
  int64_t slotsOneWay = 0, slotsTwoWay = 0; ///< of a pipe; two-way: of each direction
  int64_t flagsPerDirection = 0;            ///< cross-core flags that a pipe takes
};

/// The number of slots that a consumer frees at once: PTO-ISA (`TPipe`) notifies the producer only
/// when this many slots of the pipe have been freed, and the producer waits for that before it
/// takes the first of them.
inline int64_t freedAtOnce(int64_t slots) {
  return slots <= 2 ? (slots < 1 ? 1 : slots) : slots / 2;
}

/// Limits of the machine; 0 is no limit.
struct MachineLimits {
  int64_t matmulExtent = 0; ///< largest m, n, k of a matrix product
  int64_t vectorBytes = 0;  ///< of one repeat of the vector unit
  int64_t blockBytes = 0;   ///< the row size of tiles must be a multiple of it
  int64_t repeat = 0;
  int64_t loadVecRows = 0, loadMatRows = 0;
  int64_t storeAccColumns = 0, storeAccRows = 0, storeAccRowsNz = 0;
  int64_t viewRank = 0; ///< axes of a view of global memory
};

/// Default sizes for tiling tensor-level code.
struct TilingDefaults {
  int64_t productM = 0, productN = 0, productK = 0;
  int64_t rowBytes = 0; ///< bytes of one array in a block of whole rows
};

/// Names in external tools; empty or 0: the tool does not support the machine.
struct ToolNames {
  std::string ptoas;    ///< value of `--pto-arch`
  std::string isaMacro; ///< macro that selects it in PTO-ISA
  int64_t npuArch = 0;
};

struct Machine {
  std::string name;
  std::string summary;
  bool executable = false;
  std::vector<std::string> elementTypes;
  ToolNames tools;
  int64_t clockMhz = 0; ///< 0: not published
  std::vector<MachineCore> cores;
  std::vector<MachineVariant> variants;
  std::vector<MemorySpace> memories;
  std::vector<Move> moves;
  std::vector<std::string> atomicTypes; ///< element types that a store to global memory can add
  int64_t events = 0;                   ///< ids of each ordered pair of pipes of one core
  CrossCoreFlags crossCore;
  CoreExchange exchange;
  bool vectorBarrier = false;      ///< needed between dependent vector instructions
  bool maskOfOperandShape = false; ///< a mask has one element per operand element; else one bit
  MachineLimits limits;
  std::optional<TilingDefaults> tiling;
  std::vector<InstructionTypes> instructions;
  std::vector<NamePair> missing; ///< why something is missing

  const MachineCore *core(std::string_view kind) const;
  /// The memory of that place, or null.
  const MemorySpace *space(std::string_view place) const;
  /// The legal way between two places, or null.
  const Move *move(std::string_view from, std::string_view to) const;
  /// The shortest path of moves from one memory to another, both included; empty if there is none.
  /// Global memory is an intermediate stop only if there is no other path.
  std::vector<std::string> route(std::string_view from, std::string_view to) const;
  bool hasType(std::string_view element) const;
  /// The forms of an instruction; null if the machine lacks it.
  const std::vector<TypeRow> *instruction(std::string_view name) const;
  /// Whether the instruction supports these element types: inputs in order, then the result. A
  /// shorter list concerns the first operands only.
  bool supports(std::string_view name, std::span<const std::string_view> types) const;
  bool supports(std::string_view name, std::initializer_list<std::string_view> types) const {
    return supports(name, std::span(types.begin(), types.size()));
  }
  /// Why `supports` is false, as a sentence without a full stop; empty if it is true.
  std::string whyNot(std::string_view name, std::span<const std::string_view> types) const;
  std::string whyNot(std::string_view name, std::initializer_list<std::string_view> types) const {
    return whyNot(name, std::span(types.begin(), types.size()));
  }
};

struct MachineFile {
  std::string path;
  std::string text;
};

/// The machine files that are built into the compiler, `cpu` first. Their paths are the names of
/// the machines.
std::vector<MachineFile> builtinMachineFiles();

/// Parses a machine file, including what it inherits from its `base`: a built-in machine or one of
/// `others`. On failure `error` says what is wrong and where: `` `cores[0].kind` is not a string``.
std::optional<Machine> parseMachine(std::string_view text, std::string *error,
                                    std::span<const MachineFile> others = {});

/// The same as JSON text on one line, with the inherited members filled in.
std::optional<std::string> machineJson(std::string_view text, std::string *error,
                                       std::span<const MachineFile> others = {});

/// `machine` with the figures of the variant after the colon in `name`, if there is a colon;
/// nothing if there is no such variant.
std::optional<Machine> machineVariant(Machine machine, std::string_view name);

/// The built-in machine of that name, `a3`, or a variant of one, `a2:910b3`.
std::optional<Machine> findMachine(std::string_view name);
/// The same, cached for the process; null if there is none.
const Machine *knownMachine(std::string_view name);

} // namespace ptl
