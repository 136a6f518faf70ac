// The prover's model of a kernel. MLIR is read once into these plain structs; running and judging
// use only them.
#pragma once

#include "ir/ops/instruction_table.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace ptl::prove {

inline constexpr uint32_t kNone = ~0u;
inline constexpr uint8_t kNoPipe = 255;
inline constexpr unsigned kMaxCores = 3; ///< a cube core and its two vector cores
inline constexpr unsigned kLanes = 24;   ///< pipes of all cores: core * 8 + pipe

/// The layout of a tile's elements in memory.
struct TileShape {
  uint8_t place = 0; ///< `ir::Place`
  int64_t rows = 0, cols = 0;
  int64_t validRows = 0, validCols = 0; ///< -1: known only at run time
  int64_t bytes = 0;                    ///< of the whole tile
  int64_t elementBytes = 1;
  int64_t stride = 0;         ///< distance of the slots of a multi-tile in bytes
  const void *type = nullptr; ///< the MLIR type, opaque
  bool operator==(const TileShape &) const = default;
};

enum class Calc : uint8_t {
  Constant,
  Copy,
  Add,
  Sub,
  Mul,
  Div,
  DivUnsigned,
  CeilDiv,
  CeilDivUnsigned,
  FloorDiv,
  Rem,
  RemUnsigned,
  Min,
  Max,
  MinUnsigned,
  MaxUnsigned,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  ShrUnsigned,
  Compare,
  Select,
  Truncate,      ///< the low bits, as a number without a sign
  TruncateSigned ///< the same with the sign that they have
};

enum class StepKind : uint8_t {
  Calc,       ///< dst = sub(args); imm: the constant, the predicate, the bits
  Input,      ///< dst = the value of input `imm`; sub: it is data and not a parameter
  SubBlock,   ///< dst = number of the vector core
  Alloc,      ///< dst = tile: args = address, valid rows, valid columns; imm: shape
  MultiGet,   ///< dst = tile: args = address, slot, valid rows, valid columns; imm: shape; count:
              ///< slots; other: operation
  Declare,    ///< dst = tile without an address: args = none, valid rows, valid columns; imm: shape
  Window,     ///< dst = args[0] as shape imm, with valid rows, valid columns, at args[3], args[4]
  Alias,      ///< dst = args[0] as shape imm, with valid rows, valid columns
  SetValid,   ///< args = tile, rows, columns
  View,       ///< dst = view: args = pointer, extents…, strides…; count: rank
  Box,        ///< dst = box: args = view, offsets…, sizes…; count: rank
  Pointer,    ///< dst = pointer number imm
  AddPointer, ///< dst = args[0] + args[1] elements
  Pipe,       ///< an instruction on pipe sub; `accesses`
  Set,
  Wait, ///< imm: source pipe * 8 + destination pipe; args = id
  Signal,
  Await,   ///< of other cores: sub: pipe; args = id
  Barrier, ///< sub: pipe
  Open,    ///< dst = queue number imm; args = pointer to global memory, if it goes through that
  Push,
  Pop,    ///< args = tile, queue
  Free,   ///< args = queue
  For,    ///< args = lower, upper, step, initial values…; body
  If,     ///< args = condition; body, other
  While,  ///< args = initial values…; body: before, other: after
  Assume, ///< args = a condition; executions in which it is false are excluded
  Stop,   ///< the program stops with an error: executions that reach it are excluded
  Yield,  ///< args; ends a body (also `scf.condition`, whose first argument is the condition)
};

/// The access of an instruction to an operand. `Element` and `Part` access only the given positions
/// (tgetval, textract, tinsert).
struct AccessSpec {
  uint32_t value = kNone; ///< a tile, box or pointer
  bool reads = false, writes = false, scratch = false, atomic = false;
  bool memory = false; ///< global memory
  uint32_t row = kNone,
           col = kNone;    ///< start of the part; `col` alone: position of one element, row-major
  uint32_t extent = kNone; ///< the tile whose valid shape is that of the part
  /// For code from the compiler only. For a read: the index in `Kernel::held` of the values that
  /// may be there. For a write: the number of the value that is there afterwards. 0 if unknown.
  uint32_t held = 0;
  bool operator==(const AccessSpec &) const = default;
};

struct Step {
  explicit Step(StepKind kind, Calc calc = Calc::Constant)
      : kind(kind), sub(static_cast<uint8_t>(calc)) {}
  bool operator==(const Step &) const = default;

  StepKind kind;
  uint8_t sub;
  uint32_t dst = kNone;
  uint32_t op = 0; ///< into Kernel::operations
  int64_t imm = 0;
  uint32_t count = 0;
  uint32_t body = kNone, other = kNone;
  std::vector<uint32_t> args;    ///< registers; `kNone` for a missing optional one
  std::vector<uint32_t> results; ///< For, If, While: registers of the results
  std::vector<AccessSpec> accesses;
  bool inPlace = false;    ///< a result may have the same bytes as an input
  uint32_t inside = kNone; ///< index of Kernel::inside
  int64_t rotates = 0;     ///< Calc: a remainder by such a small number that it may select a slot
};

/// A block of code; `parameters` are the registers of its arguments (the loop variable first).
struct Body {
  std::vector<uint32_t> parameters;
  std::vector<Step> steps;
  bool hasQueue = false; ///< contains pushes, pops or cross-core events at any depth
  /// Set if it contains, at any depth, only scalar code and accesses to single elements of tiles.
  bool ofElements = true;
  /// For a loop: its iterations write different parts of a tile, so that no iteration can represent
  /// another.
  bool fillsParts = false;
  /// For a loop: the number of iterations after which all slots, ids and queues that rotate return
  /// to the first.
  int64_t rotation = 2;
  bool operator==(const Body &) const = default;
};

/// An event that an instruction itself sets and waits for.
struct InsideEvent {
  uint8_t from = 0, to = 0;
  bool guarded = false; ///< the setter has waited inside for the pipe that waits for it
  bool operator==(const InsideEvent &) const = default;
};

/// What an instruction does besides its main work: it fills its scratch memory from another pipe,
/// and sets and waits for events.
struct Inside {
  uint8_t scratchPipe = kNoPipe;
  int64_t id = 0;
  bool always = false; ///< false: only in some forms, so that it guarantees no order
  std::vector<InsideEvent> events;
  bool operator==(const Inside &) const = default;
};

/// One side of a queue.
struct QueueSide {
  uint32_t op = kNone;
  int64_t slotSize = 0, slots = 0, localSlots = 0, flagBase = -1;
  bool noSplit = false;
  int64_t pointerBytes = 1; ///< of an element of the pointer to global memory
  std::string reserved;     ///< name of the consumer's buffer
  uint32_t reserveOp = kNone;
  int64_t reservedBytes = -1, reservedBase = -1;
  std::string reservedPlace;
  bool operator==(const QueueSide &) const = default;
};
struct Queue {
  std::string name;
  bool toVector = true; ///< from the cube core to the vector cores
  bool throughGlobal = true;
  QueueSide cube, vector;
  QueueSide &producer() { return toVector ? cube : vector; }
  QueueSide &consumer() { return toVector ? vector : cube; }
  const QueueSide &producer() const { return toVector ? cube : vector; }
  const QueueSide &consumer() const { return toVector ? vector : cube; }
  bool operator==(const Queue &) const = default;
};

struct Function {
  mlir::Operation *op = nullptr;
  bool cube = false;
  uint32_t registers = 0;
  bool usesSubBlock = false;
  std::vector<Body> bodies; ///< the first is the function's
};

/// A value that instances choose: a scalar parameter, a value from data, or the number of a core
/// group.
struct Input {
  /// `Group` and `Groups` are the number of the core group and the number of groups; they are
  /// chosen after the sizes.
  enum Role : uint8_t { Size, Data, Group, Groups };
  std::string name; ///< `n`, or the expression
  Role role = Size;
  bool boolean = false;
};

struct Kernel {
  std::string name;
  std::vector<Function> functions;
  std::vector<mlir::Operation *> operations;
  std::vector<TileShape> shapes;
  std::vector<Input> inputs;
  std::vector<Queue> queues;
  std::vector<Inside> inside;
  std::vector<std::string> pointers; ///< names
  std::vector<uint32_t> prints;      ///< operations that print a tile
  /// Sets of values of the tile level, by their numbers in a function. The first set is empty.
  std::vector<std::vector<int32_t>> held = {{}};
  /// constants in comparisons of conditions and bounds: candidates for inputs
  std::vector<int64_t> constants;
  int64_t eventIds = 0; ///< of a pair of pipes; 0: no limit
  int64_t crossIds = 0,
          crossCount = 0; ///< of cross-core events, and the limit of their counters; 0: no limit
  std::vector<int64_t> crossReserved;
  int64_t queueFlags = 2;      ///< flags per queue
  bool awaitStopsCore = false; ///< a core that waits for another one issues no instructions
  /// For kernels written by hand: the core group that runs it, and the number of core groups. Other
  /// kernels have inputs for these.
  int64_t group = 0, groups = 1;
  bool byHand = false;
  int64_t rotation = 2; ///< of all loops together
  /// Loops with queues may skip iterations, because all of them return to the first of their
  /// `rotation` simultaneously.
  bool rotatesTogether = false;
  int64_t size = 0; ///< number of operations in its text

  /// Whether everything that a verdict depends on is equal; names and source locations do not
  /// matter.
  bool isLike(const Kernel &other) const;
};

} // namespace ptl::prove
