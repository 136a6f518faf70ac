// The schema of instruction records. One record describes a tile instruction of PTO completely;
// ptl-tblgen generates from it the tables of the checker, the block level's dialect, the emitters
// and the simulator. The machine files state which machines have an instruction, for which element
// types and at what cost.
#ifndef PTL_INSTRUCTION_BASE
#define PTL_INSTRUCTION_BASE

// ---- where it runs ------------------------------------------------------------------------------------

/// `name` is an enumerator of `Pipe`. `rule` is one of `PipeRule`: how the pipe follows from the places of the operands.
class Pipe<string pipeName, string ruleName = "Fixed"> {
  string name = pipeName;
  string rule = ruleName;
}
def S : Pipe<"S">;
def V : Pipe<"V">;
def M : Pipe<"M">;
def MTE1 : Pipe<"MTE1">;
def MTE2 : Pipe<"MTE2">;
def MTE3 : Pipe<"MTE3">;
def FIX : Pipe<"FIX">;
def PipeOfMove : Pipe<"S", "OfMove">;
def PipeOfStore : Pipe<"S", "OfStore">;
def PipeOfFill : Pipe<"S", "OfFill">;

// ---- operands -----------------------------------------------------------------------------------------

/// `letter` is its kind in the tables: `t` tile, `x` scratch tile, `s` scalar of the element type,
/// `i` position or count, `v` view of global memory. `extents` are two letters, rows and columns:
/// equal letters are equal extents, `1` is the extent 1, `=` all that the tile has; `*` is not checked, `.` is a scalar.
/// `place` is the memory in which a tile must lie: by default `vec` or, if the pipe follows from
/// the places, any for which the machine has a move. `counts`: its element type is one of those
/// that machine files list.
class Operand<string letterText, string extentsText, string placeText = ""> {
  string letter = letterText;
  string extents = extentsText;
  string place = placeText;
  bit counts = 1;
  bit optional = 0;
}
class Tile<string extents, string place = ""> : Operand<"t", extents, place>;
class View<string extents> : Operand<"v", extents>;
/// Of any element type: masks, positions, accumulators that are read.
class AnyType<Operand of> : Operand<of.letter, of.extents, of.place> {
  let counts = 0;
  let optional = of.optional;
}
class Optional<Operand of> : Operand<of.letter, of.extents, of.place> {
  let counts = of.counts;
  let optional = 1;
}
/// Of any extents, and of any element type as well.
def AnyTile : Tile<"*">;
def FreeTile : AnyType<AnyTile>;
/// What it holds does not matter before or after.
def Scratch : Operand<"x", "*"> {
  let counts = 0;
}
def Scalar : Operand<"s", ".">;
def Index : Operand<"i", ".">;

// ---- attributes ---------------------------------------------------------------------------------------

/// What an instruction takes beside operands: a named argument of manual kernels, `name`, which PTOAS calls `ptoas`. `kind` is an
/// enumerator of `AttributeKind`. `words`: `word` or `word=enumerator` of the IR, written `.word`. `ir` is how the attribute is
/// spelled there, with `$` for the enumerator. In C++ it is `cppPrefix` and the enumerator as `cppSpelling` says (`CppSpelling`), and
/// `cppDefault` where it is not there.
class Attribute<string argument, string ptoasName, string kindName> {
  string name = argument;
  string ptoas = ptoasName;
  string kind = kindName;
  string ir = "";
  list<string> words = [];
  string cppPrefix = "";
  string cppSpelling = "Plain";
  string cppDefault = "";
}
class Choice<string argument, string ptoasName, string irText, string prefix, string spelling, string default,
             list<string> choices>
    : Attribute<argument, ptoasName, "Word"> {
  let ir = irText;
  let words = choices;
  let cppPrefix = prefix;
  let cppSpelling = spelling;
  let cppDefault = default;
}
class Flag<string argument, string ptoasName, string default> : Attribute<argument, ptoasName, "Bool"> {
  let cppDefault = default;
}
class Number<string argument, string ptoasName, string default> : Attribute<argument, ptoasName, "Int"> {
  let cppDefault = default;
}

// ---- its call in C++ ----------------------------------------------------------------------------------

/// A call that is not `LIBRARY(outs..., ins...)`. `$o0`, `$i1`: operands; `$i`: all inputs; `$O0`, `$I1`: types of tiles and views;
/// `$E0`: element type of an output; `$name`: an attribute, as PTOAS calls it. `when`: empty, the name of an attribute that must be
/// there, or `#n`: with n inputs.
class Cpp<string callText, string condition = ""> {
  string text = callText;
  string when = condition;
}

// ---- what it computes ---------------------------------------------------------------------------------

/// The function of the simulator that executes it: `execute<name>` of runtime/sim/execution.h. `facts` are what that function has to
/// know beside the operands; its table has a row `<NAME>(Id, facts...)` for each.
class Semantics<string name, list<string> columns = []> {
  string executor = name;
  list<string> facts = columns;
}
/// A kernel with such an instruction is refused when the simulator loads it.
def NotSimulated : Semantics<"">;
/// An enumerator of `Binary` (runtime/sim/arithmetic.h); how the second operand is repeated: `None`, `Scalar`, `Column` or `Row`.
class BinarySemantics<string operation, string repeat> : Semantics<"Binary", [operation, repeat]>;

// ---- instructions -------------------------------------------------------------------------------------

/// `mnemonic`: as PTOAS and, with `_` for `.`, manual kernels spell it. `library`: the function of the PTO-ISA library.
class Instruction<string spelling, string sum, Semantics meaning = NotSimulated> {
  string mnemonic = spelling;
  string library = !toupper(!subst(".", "_", spelling));
  string summary = sum;
  Pipe pipe = V;
  list<Operand> ins = [];
  list<Operand> outs = [Tile<"mn">];
  /// A tile of `outs` may be the same bytes as an input of its size.
  bit inPlace = 0;
  /// The result also depends on what `outs` held.
  bit readsOut = 0;
  /// Some of what is valid of `outs` may stay as it was.
  bit writesPart = 0;
  /// Which types and layouts it takes stands under `moves` of a machine.
  bit isMove = 0;
  /// The two inputs are a tile and a scalar, and may change places.
  bit eitherOrder = 0;
  list<Attribute> attributes = [];
  /// They are written inside `ins(...)`.
  bit attributesInside = 0;
  /// The first whose condition holds is the call.
  list<Cpp> cpp = [];
  Semantics semantics = meaning;
}

#endif // PTL_INSTRUCTION_BASE
