// Machines are data: `machines/*.json`, validated against `schema.json`. No capacity or
// core count stands in code. docs/machines.md says where each figure comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptl {

/// Element types of the operands of one form of an instruction: inputs, then the result. One name
/// means that all tiles have that type; masks, positions and scratch tiles do not count.
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

/// The inner box of boxed layouts: `rows` rows of `bytes` bytes each. In `zn` and `nn` it lies on
/// its side.
struct Fractal {
  int64_t rows = 0, bytes = 0;
};

struct MemorySpace {
  std::string place;              ///< `vec`, as after `@` in the language
  int64_t bytes = 0;              ///< of one core; 0: no limit
  int64_t reserved = 0;           ///< of these at the end, not for kernels
  int64_t alignment = 1;          ///< of the addresses of buffers, in bytes
  std::string core;               ///< the kind of core that it belongs to; empty: all
  std::optional<Fractal> fractal; ///< of boxed layouts
  std::vector<std::string> layouts;

  /// Bytes for buffers of a kernel; 0: no limit.
  int64_t usableBytes() const { return bytes - reserved; }
  bool hasLayout(std::string_view layout) const;
  /// The layout that buffers have unless something else is asked; empty if the file names none.
  std::string_view usualLayout() const {
    return layouts.empty() ? std::string_view() : std::string_view(layouts.front());
  }
};

/// Products of blocks are told where the elements of a factor lie, and find its scales themselves: those of what lies at
/// address `a` of `left` at `a >> kScaleAddressShift` of `scaleleft`, and likewise for `right`.
inline constexpr int64_t kScaleAddressShift = 4;

/// A legal way from one memory to another.
struct Move {
  std::string from, to;
  std::string core; ///< the kind of core that issues it
  std::string pipe;
  std::vector<std::string> instructions;
  std::vector<NamePair> layouts;     ///< from, to
  std::vector<std::string> types;    ///< arrive as they are
  std::vector<NamePair> conversions; ///< change on the way
  std::vector<NamePair> quantized;   ///< change on the way, with a scale factor

  /// Whether elements of type `source` can arrive as `result`, without a scale factor.
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
  int64_t countMax = 0; ///< a flag counts up to this
};

/// How cube and vector cores hand tiles to each other.
struct CoreExchange {
  bool throughBuffer = false; ///< else through a ring in global memory
  int64_t vectorPerCube = 0;
  int64_t slotsOneWay = 0, slotsTwoWay = 0; ///< of a pipe; two-way: of each direction
  int64_t flagsPerDirection = 0;            ///< cross-core flags that a pipe takes
};

/// PTO-ISA (`TPipe`) tells the producer of a pipe with so many slots of free ones only when this
/// many have been given back, and the producer waits for that before it takes the first of them.
inline int64_t freedAtOnce(int64_t slots) {
  return slots <= 2 ? (slots < 1 ? 1 : slots) : slots / 2;
}

/// 0 is no limit.
struct MachineLimits {
  int64_t matmulExtent = 0; ///< largest m, n, k of a matrix product
  int64_t vectorBytes = 0;  ///< of one repeat of the vector unit
  int64_t blockBytes = 0;   ///< rows of tiles are a multiple of it
  int64_t repeat = 0;
  int64_t loadVecRows = 0, loadMatRows = 0;
  int64_t storeAccColumns = 0, storeAccRows = 0, storeAccRowsNz = 0;
  int64_t viewRank = 0; ///< axes of a view of global memory
};

/// Default sizes when tensor-level code is cut into tiles.
struct TilingDefaults {
  int64_t productM = 0, productN = 0, productK = 0;
  int64_t rowBytes = 0; ///< bytes of one array in a block of whole rows
};

/// Names in outside tools; empty or 0: the tool does not know the machine.
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
  std::vector<std::string> atomicTypes; ///< what a store to global memory can add
  int64_t events = 0;                   ///< ids of each ordered pair of pipes of one core
  CrossCoreFlags crossCore;
  CoreExchange exchange;
  bool vectorBarrier = false;      ///< between vector instructions that depend on each other
  bool maskOfOperandShape = false; ///< a mask has an element for each of its operands'; else bits
  MachineLimits limits;
  std::optional<TilingDefaults> tiling;
  std::vector<InstructionTypes> instructions;
  std::vector<NamePair> missing; ///< why something is not there

  const MachineCore *core(std::string_view kind) const;
  /// The memory of that place, or null.
  const MemorySpace *space(std::string_view place) const;
  /// The legal way between two places, or null.
  const Move *move(std::string_view from, std::string_view to) const;
  /// The places to stop at from one place to another by the fewest moves, both included; empty if
  /// there is no way. Global memory is passed through only if nothing else leads there.
  std::vector<std::string> route(std::string_view from, std::string_view to) const;
  bool hasType(std::string_view element) const;
  /// The forms of an instruction, or null if the machine lacks it.
  const std::vector<TypeRow> *instruction(std::string_view name) const;
  /// Whether the instruction takes these element types: inputs in order, then the result. A shorter
  /// list asks about the first operands only.
  bool supports(std::string_view name, std::span<const std::string_view> types) const;
  bool supports(std::string_view name, std::initializer_list<std::string_view> types) const {
    return supports(name, std::span(types.begin(), types.size()));
  }
  /// Why `supports` says no, as a sentence without a full stop; empty if it says yes.
  std::string whyNot(std::string_view name, std::span<const std::string_view> types) const;
  std::string whyNot(std::string_view name, std::initializer_list<std::string_view> types) const {
    return whyNot(name, std::span(types.begin(), types.size()));
  }
};

struct MachineFile {
  std::string path;
  std::string text;
};

/// The machine files that came with the compiler, `cpu` first. Their paths are the names of the
/// machines.
std::vector<MachineFile> builtinMachineFiles();

/// Reads a machine file, with what it takes from its `base`: a built-in machine or one of `others`.
/// On failure `error` says what is wrong and where: `` `cores[0].kind` is not a string``.
std::optional<Machine> parseMachine(std::string_view text, std::string *error,
                                    std::span<const MachineFile> others = {});

/// The same as JSON text on one line, with the base filled in.
std::optional<std::string> machineJson(std::string_view text, std::string *error,
                                       std::span<const MachineFile> others = {});

/// `machine` with the numbers of the variant that `name` has behind its colon, if it has one;
/// nothing if there is no such variant.
std::optional<Machine> machineVariant(Machine machine, std::string_view name);

/// The built-in machine of that name, `a3`, or a variant of one, `a2:910b3`.
std::optional<Machine> findMachine(std::string_view name);
/// Likewise, read once and kept; null if there is none.
const Machine *knownMachine(std::string_view name);

} // namespace ptl
