// A kernel of the block level as plain values: `load` makes it from a module, and cores execute it.
// Control flow is jumps in a list of steps; values are in numbered registers of three kinds:
// scalars, tiles, views (pointers are views of rank 0).
#pragma once

#include "frontend/base/span.h"
#include "ir/ops/arith_op.h"
#include "ir/ops/instruction_table.h"
#include "runtime/sim/tile.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::rt::sim {

/// A scalar: floats in `f`, exactly; everything else in `i`, sign-extended, `ui` types
/// zero-extended.
struct Scalar {
  int64_t i = 0;
  double f = 0;
  bool isKnown = true; ///< false: depends on data, in a run that only computes times

  /// `array`: one plus the number of the array that it is an element of; 0: it was computed.
  static Scalar unknown(int64_t array) { return {array, 0, false}; }
  static Scalar integer(int64_t value) { return {value, 0}; }
  static Scalar real(double value) { return {0, value}; }
};

/// The value as a number of type `C`.
template <typename C> C scalarAs(const Scalar &value) {
  if constexpr (std::is_floating_point_v<C>)
    return static_cast<C>(value.f);
  else
    return static_cast<C>(value.i);
}

/// The width and kind of a scalar. `index` is an integer of 64 bits.
struct ScalarType {
  ElemKind kind = ElemKind::I64;
  bool isFloat() const { return ptl::isFloat(kind); }
};

enum class RegisterKind : uint8_t { Scalar, Tile, View };
struct Register {
  RegisterKind kind = RegisterKind::Scalar;
  int32_t index = -1;
  bool isScalar() const { return kind == RegisterKind::Scalar; }
};

/// The kinds of steps; steps.def lists them with their operands.
enum class StepKind : uint8_t {
#define STEP(kind, name) kind,
#include "runtime/sim/steps.def"
};

/// An event between two pipes.
struct Flag {
  Pipe source = Pipe::S, target = Pipe::S;
  int32_t id = -1;
};

/// Values follow `RoundMode` of the dialect.
enum class Rounding : uint8_t { None, Rint, Round, Floor, Ceil, Trunc, Odd, CastRint };
enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
enum class AccToVec : uint8_t { Vec0, Vec1, SplitRows, SplitCols };

/// The attributes of an instruction that change its effect.
struct Modifiers {
  Compare compare = Compare::Eq;
  Rounding rounding = Rounding::CastRint;
  std::optional<bool> saturate;
  std::optional<AccToVec> accToVec;
  uint8_t maskPattern = 0;
  bool atomicAdd = false, relu = false, descending = false, exhausted = false, upper = false,
       asymmetric = false;
};

/// One step of a function. Traces identify an instruction by its step.
struct Step {
  StepKind kind = StepKind::Return;
  ArithOp op{};
  ScalarType type;        ///< of the result, or of the value that is stored
  ScalarType operandType; ///< of the first operand
  uint8_t predicate = 0;  ///< of comparisons, as in MLIR
  InstructionId instruction{};
  Pipe pipe = Pipe::S;
  Flag flag;
  Modifiers modifiers;
  Register result;
  std::vector<Register> operands; ///< of instructions: inputs, then outputs
  uint8_t numOuts = 0;
  uint16_t scratch = 0; ///< bit i: input i is scratch
  bool validRowGiven = false,
       validColGiven = false; ///< the last operands are the valid rows or columns
  int32_t target = -1;        ///< of jumps; of traps and prints the index in `checks` and `prints`
  int32_t queue = -1;
  int32_t number = 0;    ///< of pushes: number among the places that push to the queue
  uint8_t split = 0;     ///< of queues: 0 whole, 1 rows, 2 columns split between the vector cores
  int64_t slotCount = 0; ///< of `GetSlot`
  Scalar constant;
  Tile tile; ///< the type of the result
  View view;
  int32_t location = 0;
  int32_t why = -1; ///< of synchronisation: index of the reason in `Function::reasons`
  std::vector<ScalarType> operandTypes; ///< of instructions: of their scalars, others unused

  size_t numIns() const { return operands.size() - numOuts; }
};

/// `tadd`, `wait_flag`: as in the text of a module.
std::string_view nameOf(const Step &step);

struct SourceLocation {
  std::string file;
  int32_t line = 0, column = 0;
  std::string name; ///< of the value that is created, if it has one
  /// Source ranges, if the module has them: the innermost first, then the calls into which it was
  /// inlined.
  std::vector<Span> spans = {};
};
/// `k.ptl:3:7`, or empty.
std::string toString(const SourceLocation &location);

/// A check in the program; `{0}` … in `message` stand for values.
struct Check {
  std::string status, message;
};

/// What a `tprint` writes of a line of the source's `print`.
struct PrintedPart {
  std::string before; ///< the text in front of the value
  std::string behind; ///< the text behind the last value of the line
  bool endsLine = true;
  bool hasValue = true;          ///< false: the line is only text
  ElemKind elem = ElemKind::F32; ///< the element type in the source
  std::vector<int64_t> extents;  ///< in the source; -1: not constant
};

struct Function {
  bool cube = false;
  std::vector<Check> checks;
  std::vector<PrintedPart> prints;
  std::vector<Step> steps;
  int32_t numScalars = 0, numTiles = 0, numViews = 0;
  std::vector<Register> arguments;
  std::vector<SourceLocation> locations; ///< indexed by `Step::location`
  std::vector<std::string> reasons;      ///< indexed by `Step::why`
};

/// A queue of tiles between the cube core and the vector cores of a group.
struct Queue {
  bool toVector = true; ///< else from the vector cores to the cube core
  bool throughGlobal = false;
  int64_t slotBytes = 0; ///< for a whole tile
  int64_t slots = 0, localSlots = 0;
  uint8_t split = 0;
  /// The types of popped tiles, in program order: one for all, or one for each place that pushes.
  std::vector<Tile> popped;
  int32_t pushes = 0; ///< places that push
};

struct Parameter {
  std::string name;
  bool isPointer = false;
  std::string role;  ///< of pointers: `in`, `out`, `inout`, `workspace`, or empty
  int64_t bytes = 0; ///< of workspaces, for each core group
  ScalarType type;   ///< of scalars, or of the elements
};

struct Kernel {
  std::string name;
  std::string machine; ///< the name of its machine file, if the module has one
  std::vector<Parameter> parameters;
  std::optional<Function> cube, vector;
  std::vector<Queue> queues;
};

} // namespace ptl::rt::sim
