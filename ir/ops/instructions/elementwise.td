// Elementwise: of two tiles, of one, of a tile and a scalar.
include "ir/ops/instructions/instruction_attributes.td"

// ---- two tiles ----------------------------------------------------------------------------------------

class Binary<string mnemonic, string operation, string summary>
    : Instruction<mnemonic, summary, BinarySemantics<operation, "None">> {
  let ins = [Tile<"mn">, Tile<"mn">];
  let inPlace = 1;
}
class BinaryWithScratch<string mnemonic, string operation, string summary> : Binary<mnemonic, operation, summary> {
  let ins = [Tile<"mn">, Tile<"mn">, Scratch];
  let inPlace = 0;
}
/// Where only one of the two is valid, the result is that one.
class Part<string mnemonic, string operation, string summary>
    : Instruction<mnemonic, summary # " where both are valid, else the valid one", Semantics<"Part", [operation]>> {
  let ins = [AnyTile, AnyTile];
  let outs = [AnyTile];
  let inPlace = 1;
}

def TAdd : Binary<"tadd", "Add", "sum">;
def TSub : Binary<"tsub", "Sub", "difference">;
def TMul : Binary<"tmul", "Mul", "product">;
def TDiv : Binary<"tdiv", "Div", "quotient">;
def TMax : Binary<"tmax", "Max", "larger">;
def TMin : Binary<"tmin", "Min", "smaller">;
def TRem : BinaryWithScratch<"trem", "Rem", "remainder with the sign of the divisor">;
def TFmod : Binary<"tfmod", "Fmod", "remainder with the sign of the dividend"> {
  let inPlace = 0;
}
def TAnd : Binary<"tand", "And", "bitwise and">;
def TOr : Binary<"tor", "Or", "bitwise or">;
def TXor : BinaryWithScratch<"txor", "Xor", "bitwise exclusive or">;
def TShl : Binary<"tshl", "Shl", "shifted to the left">;
def TShr : Binary<"tshr", "Shr", "shifted to the right">;
def TPrelu : BinaryWithScratch<"tprelu", "Prelu", "a where positive, else a times b">;
def TCmp : Instruction<"tcmp", "packed mask of a comparison", Semantics<"Compare">> {
  let ins = [Tile<"mn">, Tile<"mn">];
  let outs = [FreeTile];
  let writesPart = 1;
  let attributes = [CompareMode];
  let attributesInside = 1;
  let cpp = [Cpp<"TCMP($o0, $i, $cmpMode)">];
}
def TSel : Instruction<"tsel", "the first where the mask is set, else the second", Semantics<"Select">> {
  let ins = [FreeTile, Tile<"mn">, Tile<"mn">, Scratch];
}
def TPartAdd : Part<"tpartadd", "Add", "sum">;
def TPartMul : Part<"tpartmul", "Mul", "product">;
def TPartMax : Part<"tpartmax", "Max", "larger">;
def TPartMin : Part<"tpartmin", "Min", "smaller">;

// ---- one tile -----------------------------------------------------------------------------------------

/// The function is a `case` of its id in runtime/sim/execute_unary.cpp.
class Unary<string mnemonic, string summary> : Instruction<mnemonic, summary, Semantics<"Unary">> {
  let ins = [Tile<"mn">];
  let inPlace = 1;
}

def TAbs : Unary<"tabs", "absolute value">;
def TNeg : Unary<"tneg", "negated">;
def TNot : Unary<"tnot", "bitwise not">;
def TExp : Unary<"texp", "e to the power of it">;
def TLog : Unary<"tlog", "natural logarithm">;
def TSqrt : Unary<"tsqrt", "square root">;
def TRsqrt : Unary<"trsqrt", "1 over the square root"> {
  let ins = [Tile<"mn">, Optional<Scratch>];
  let inPlace = 0;
}
def TRecip : Unary<"trecip", "1 over it"> {
  let inPlace = 0;
}
def TRelu : Unary<"trelu", "0 where negative">;
def TCvt : Instruction<"tcvt", "another element type", Semantics<"Convert">> {
  let ins = [Tile<"mn">, Optional<Scratch>];
  let attributes = [RoundMode, SaturationMode];
  let attributesInside = 1;
  let cpp = [Cpp<"TCVT($o0, $i, $rmode, $sat_mode)", "sat_mode">, Cpp<"TCVT($o0, $i, $rmode)">];
}

// ---- a tile and a scalar ------------------------------------------------------------------------------

class BinaryScalar<string mnemonic, string operation, string summary>
    : Instruction<mnemonic, summary, BinarySemantics<operation, "Scalar">> {
  let ins = [Tile<"mn">, Scalar];
  let inPlace = 1;
}
class BinaryScalarWithScratch<string mnemonic, string operation, string summary>
    : BinaryScalar<mnemonic, operation, summary> {
  let ins = [Tile<"mn">, Scalar, Scratch];
  let inPlace = 0;
}

def TAdds : BinaryScalar<"tadds", "Add", "sum with a scalar">;
def TSubs : BinaryScalar<"tsubs", "Sub", "difference to a scalar">;
def TMuls : BinaryScalar<"tmuls", "Mul", "product with a scalar">;
def TDivs : BinaryScalar<"tdivs", "Div", "quotient of a tile and a scalar, or of a scalar and a tile"> {
  let eitherOrder = 1;
}
def TMaxs : BinaryScalar<"tmaxs", "Max", "larger of each element and a scalar">;
def TMins : BinaryScalar<"tmins", "Min", "smaller of each element and a scalar">;
def TRems : BinaryScalarWithScratch<"trems", "Rem", "remainder by a scalar, with the sign of the scalar">;
def TFmods : BinaryScalar<"tfmods", "Fmod", "remainder by a scalar, with the sign of the element"> {
  let inPlace = 0;
}
def TAnds : BinaryScalar<"tands", "And", "bitwise and with a scalar"> {
  let inPlace = 0;
}
def TOrs : BinaryScalar<"tors", "Or", "bitwise or with a scalar"> {
  let inPlace = 0;
}
def TXors : BinaryScalarWithScratch<"txors", "Xor", "bitwise exclusive or with a scalar">;
def TShls : BinaryScalar<"tshls", "Shl", "shifted to the left by a scalar">;
def TShrs : BinaryScalar<"tshrs", "Shr", "shifted to the right by a scalar">;
def TLrelu : BinaryScalar<"tlrelu", "Prelu", "the element where positive, else times a scalar">;
def TAxpy : BinaryScalar<"taxpy", "Mul", "adds a tile times a scalar"> {
  let inPlace = 0;
  let readsOut = 1;
}
def TCmps : Instruction<"tcmps", "packed mask of a comparison with a scalar", Semantics<"Compare">> {
  let ins = [Tile<"mn">, Scalar];
  let outs = [FreeTile];
  let writesPart = 1;
  let attributes = [CompareMode];
  let attributesInside = 1;
  let cpp = [Cpp<"TCMPS($o0, $i, $cmpMode)">];
}
def TSels : Instruction<"tsels", "the tile where the mask is set, else the scalar", Semantics<"Select">> {
  let ins = [FreeTile, Tile<"mn">, Scratch, Scalar];
}
def TExpands : Instruction<"texpands", "fills with a scalar", Semantics<"Fill">> {
  let pipe = PipeOfFill;
  let ins = [Scalar];
}
