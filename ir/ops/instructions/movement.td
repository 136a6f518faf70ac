// Data movement: between global memory and tiles, from place to place, and into another arrangement.
include "ir/ops/instructions/instruction_attributes.td"

// ---- to and from global memory ------------------------------------------------------------------------

def TLoad : Instruction<"tload", "global memory to a tile", Semantics<"Move">> {
  let pipe = MTE2;
  let ins = [View<"mn">];
  let isMove = 1;
}
def TStore : Instruction<"tstore", "a tile to global memory", Semantics<"Move">> {
  let pipe = PipeOfStore;
  let ins = [Tile<"mn">, Optional<Index>];
  let outs = [View<"mn">];
  let isMove = 1;
  let attributes = [AtomicMode, ReluMode];
  let cpp = [Cpp<"TSTORE<$I0, $O0, $atomicType, $reluPreMode>($o0, $i)", "reluPreMode">,
             Cpp<"TSTORE<$I0, $O0, $atomicType>($o0, $i)", "atomicType">];
}
def TStoreFp : Instruction<"tstore_fp", "an accumulator to global memory, quantised per channel", Semantics<"Move">> {
  let pipe = FIX;
  let ins = [Tile<"mn", "acc">, AnyType<Tile<"*", "scale">>];
  let outs = [View<"mn">];
  let attributes = [AtomicMode, ReluMode];
}
def TPrefetch : Instruction<"tprefetch", "hints that a part of global memory is wanted soon", Semantics<"Nothing">> {
  let pipe = MTE2;
  let ins = [View<"*">];
  let outs = [AnyTile];
}

// ---- from place to place ------------------------------------------------------------------------------

def TMov : Instruction<"tmov", "a tile to another place or layout", Semantics<"Move">> {
  let pipe = PipeOfMove;
  let ins = [Tile<"mn">, Optional<FreeTile>, Optional<Index>];
  let isMove = 1;
  let attributes = [ReluMode, VectorMode];
  let cpp = [Cpp<"TMOV<$O0, $I0, $accToVecMode>($o0, $i)", "accToVecMode">,
             Cpp<"TMOV<$O0, $I0, $reluPreMode>($o0, $i)", "reluPreMode">];
}
def TMovFp : Instruction<"tmov.fp", "an accumulator to another place, quantised per channel", Semantics<"Move">> {
  let pipe = FIX;
  let ins = [Tile<"mn", "acc">, AnyType<Tile<"*", "scale">>];
  let attributes = [ReluMode];
}
def TExtract : Instruction<"textract", "a part of a tile, beginning at a row and a column", Semantics<"Move">> {
  let pipe = PipeOfMove;
  let ins = [AnyTile, Index, Index];
  let outs = [AnyTile];
  let isMove = 1;
  let attributes = [ReluMode];
}
def TInsert : Instruction<"tinsert", "a tile into a part of another", Semantics<"Move">> {
  let pipe = PipeOfMove;
  let ins = [AnyTile, Index, Index];
  let outs = [AnyTile];
  let isMove = 1;
  let readsOut = 1;
  let writesPart = 1;
  let attributes = [ReluMode];
}

// ---- into another arrangement -------------------------------------------------------------------------

def TTrans : Instruction<"ttrans", "transposed", Semantics<"Transpose">> {
  let ins = [Tile<"mn">, Scratch];
  let outs = [Tile<"nm">];
}

class FillPad<string mnemonic, string summary> : Instruction<mnemonic, summary, Semantics<"FillPad">> {
  let ins = [AnyTile];
  let outs = [AnyTile];
}
def TFillPad : FillPad<"tfillpad", "fills what lies beyond the valid part with the padding value"> {
  let pipe = PipeOfFill;
}
def TFillPadInplace : FillPad<"tfillpad_inplace", "as tfillpad, in the same buffer"> {
  let inPlace = 1;
}
def TFillPadExpand : FillPad<"tfillpad_expand", "as tfillpad, into a larger tile">;

def TConcat : Instruction<"tconcat", "two tiles side by side", Semantics<"Concat">> {
  let ins = [AnyTile, AnyTile];
  let outs = [AnyTile];
}
