// Quantisation, order and positions.
include "ir/ops/instructions/instruction_attributes.td"

// ---- quantisation -------------------------------------------------------------------------------------

def TQuant : Instruction<"tquant", "quantised per row", Semantics<"Quantise">> {
  let ins = [Tile<"mn">, FreeTile, Optional<FreeTile>];
  let attributes = [QuantMode];
  let attributesInside = 1;
  let cpp = [Cpp<"TQUANT<$quant_type>($o0, $i0, $i1, &$i2)", "#3">, Cpp<"TQUANT<$quant_type>($o0, $i0, $i1)">];
}
def TDequant : Instruction<"tdequant", "dequantised per row", Semantics<"Quantise">> {
  let ins = [Tile<"mn">, FreeTile, FreeTile];
}

// ---- sorting ------------------------------------------------------------------------------------------

def TSort32 : Instruction<"tsort32", "sorts blocks of 32 values, each beside its position", Semantics<"Sort">> {
  let ins = [AnyTile, AnyTile, Optional<Scratch>];
  let outs = [FreeTile];
  let writesPart = 1;
}
def TMrgSort : Instruction<"tmrgsort", "merges each four sorted blocks of a row", Semantics<"Merge">> {
  let ins = [AnyTile, Index];
  let outs = [AnyTile];
  let writesPart = 1;
}
/// The last of the inputs that are there is scratch.
def TMrgSortLists : Instruction<"tmrgsort.lists", "merges two to four sorted rows", Semantics<"Merge">> {
  let library = "TMRGSORT";
  let ins = [AnyTile, AnyTile, AnyTile, Optional<AnyTile>, Optional<AnyTile>];
  let outs = [AnyTile];
  let writesPart = 1;
  let attributes = [IsExhausted];
  let attributesInside = 1;
  let cpp = [Cpp<"{ MrgSortExecutedNumList merged; "
                 "TMRGSORT<$O0, $I2, $I0, $I1, $exhausted>($o0, merged, $i2, $i0, $i1); }", "#3">,
             Cpp<"{ MrgSortExecutedNumList merged; "
                 "TMRGSORT<$O0, $I3, $I0, $I1, $I2, $exhausted>($o0, merged, $i3, $i0, $i1, $i2); }", "#4">,
             Cpp<"{ MrgSortExecutedNumList merged; "
                 "TMRGSORT<$O0, $I4, $I0, $I1, $I2, $I3, $exhausted>($o0, merged, $i4, $i0, $i1, $i2, $i3); }", "#5">];
}

// ---- elements by position -----------------------------------------------------------------------------

def TGather : Instruction<"tgather", "elements of a row by position", Semantics<"Gather">> {
  let ins = [AnyTile, AnyTile, Scratch];
  let outs = [FreeTile];
}
def TGatherMask : Instruction<"tgather.mask", "elements of a row by a repeating pattern", Semantics<"Gather">> {
  let library = "TGATHER";
  let ins = [AnyTile];
  let outs = [Tile<"*=">]; // written without gaps between rows
  let writesPart = 1;
  let attributes = [MaskPattern];
  let attributesInside = 1;
  let cpp = [Cpp<"TGATHER<$O0, $I0, $maskPattern>($o0, $i0)">];
}
def TGatherB : Instruction<"tgatherb", "elements by byte offset", Semantics<"Gather">> {
  let ins = [AnyTile, AnyTile];
  let outs = [FreeTile];
}
def TScatter : Instruction<"tscatter", "elements to positions", Semantics<"Scatter">> {
  let ins = [AnyTile, AnyTile];
  let outs = [FreeTile];
  let readsOut = 1;
  let writesPart = 1;
}
def MGather : Instruction<"mgather", "rows or elements of global memory by position", Semantics<"GlobalGather">> {
  let pipe = PipeOfFill;
  let ins = [View<"*">, FreeTile];
  let outs = [FreeTile];
}
def MScatter : Instruction<"mscatter", "rows or elements to positions of global memory", Semantics<"GlobalGather">> {
  let ins = [AnyTile, FreeTile];
  let outs = [AnyType<View<"*">>];
  let writesPart = 1;
}

// ---- numbers ------------------------------------------------------------------------------------------

def TCi : Instruction<"tci", "consecutive numbers along a row", Semantics<"Fill">> {
  let pipe = S;
  let ins = [Scalar];
  let outs = [AnyTile];
  let attributes = [IsDescending];
  let attributesInside = 1;
  let cpp = [Cpp<"TCI<$O0, $E0, $descending>($o0, $i0)">];
}
def TTri : Instruction<"ttri", "a triangle of ones", Semantics<"Fill">> {
  let ins = [Index];
  let outs = [AnyTile];
  let attributes = [UpperOrLower];
  let attributesInside = 1;
  let cpp = [Cpp<"TTRI<$O0, $upperOrLower>($o0, $i0)">];
}
def TRandom : Instruction<"trandom", "random bits of a counter"> {
  let ins = [Index, Index, Index, Index, Index, Index];
  let outs = [AnyTile];
  let attributesInside = 1;
  let cpp = [Cpp<"{ TRandomKey key = {uint32_t($i0), uint32_t($i1)}; "
                 "TRandomCounter counter = {uint32_t($i2), uint32_t($i3), uint32_t($i4), uint32_t($i5)}; "
                 "TRANDOM($o0, key, counter); }">];
}
def THistogram : Instruction<"thistogram", "counts of values"> {
  let ins = [AnyTile, FreeTile];
  let outs = [AnyTile];
}
def TSetVal : Instruction<"tsetval", "one element of a tile from a scalar", Semantics<"Fill">> {
  let pipe = S;
  let ins = [Index, Scalar];
  let outs = [AnyTile];
  let readsOut = 1;
  let writesPart = 1;
  let cpp = [Cpp<"$o0.SetValue($i0, $i1)">];
}
def TPrint : Instruction<"tprint", "prints a tile", Semantics<"Nothing">> {
  let ins = [AnyTile];
  let outs = [];
  let cpp = [Cpp<"TPRINT($i0)">];
}
