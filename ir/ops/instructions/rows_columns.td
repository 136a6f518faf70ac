// Rows and columns: each reduced to one element, and one element per row or column with a whole tile.
include "ir/ops/instructions/instruction_attributes.td"

// ---- reductions ---------------------------------------------------------------------------------------

/// `Sum`, `Max`, `Min` or `Prod`; of `Rows` or `Columns`; the result is a `Value` or its `Position`.
class ReductionSemantics<string kind, string axis, string gives> : Semantics<"Reduction", [kind, axis, gives]>;

class RowReduction<string mnemonic, string kind, string summary, string gives = "Value">
    : Instruction<mnemonic, summary # " of each row", ReductionSemantics<kind, "Rows", gives>> {
  let ins = [Tile<"mn">, Scratch];
  let outs = [Tile<"m1">];
}
class ColumnReduction<string mnemonic, string kind, string summary, string gives = "Value">
    : Instruction<mnemonic, summary # " of each column", ReductionSemantics<kind, "Columns", gives>> {
  let ins = [Tile<"mn">];
  let outs = [Tile<"1n">];
}

def TRowSum : RowReduction<"trowsum", "Sum", "sum">;
def TRowMax : RowReduction<"trowmax", "Max", "largest">;
def TRowMin : RowReduction<"trowmin", "Min", "smallest">;
def TRowProd : RowReduction<"trowprod", "Prod", "product">;
def TRowArgMax : RowReduction<"trowargmax", "Max", "position of the largest", "Position">;
def TRowArgMin : RowReduction<"trowargmin", "Min", "position of the smallest", "Position">;
def TColSum : ColumnReduction<"tcolsum", "Sum", "sum"> {
  let ins = [Tile<"mn">, Optional<Scratch>];
  let attributes = [IsBinary];
  let attributesInside = 1;
  let cpp = [Cpp<"TCOLSUM($o0, $i, $isBinary)", "#2">];
}
def TColMax : ColumnReduction<"tcolmax", "Max", "largest">;
def TColMin : ColumnReduction<"tcolmin", "Min", "smallest">;
def TColProd : ColumnReduction<"tcolprod", "Prod", "product">;
let ins = [Tile<"mn">, Scratch] in {
  def TColArgMax : ColumnReduction<"tcolargmax", "Max", "position of the largest", "Position">;
  def TColArgMin : ColumnReduction<"tcolargmin", "Min", "position of the smallest", "Position">;
}

// ---- expansions: a column (one value per row) or a row (one per column) with a whole tile ---------------

class WithColumn<string mnemonic, string operation, string summary>
    : Instruction<mnemonic, summary # " of a tile and a column", BinarySemantics<operation, "Column">> {
  let ins = [Tile<"mn">, Tile<"m1">, Optional<Scratch>];
  let inPlace = 1;
}
class WithRow<string mnemonic, string operation, string summary>
    : Instruction<mnemonic, summary # " of a tile and a row", BinarySemantics<operation, "Row">> {
  let ins = [Tile<"mn">, Tile<"1n">];
  let inPlace = 1;
}

def TRowExpand : Instruction<"trowexpand", "a column repeated along its rows", Semantics<"Expand">> {
  let ins = [Tile<"m1">];
}
def TRowExpandAdd : WithColumn<"trowexpandadd", "Add", "sum">;
def TRowExpandSub : WithColumn<"trowexpandsub", "Sub", "difference">;
def TRowExpandMul : WithColumn<"trowexpandmul", "Mul", "product">;
def TRowExpandDiv : WithColumn<"trowexpanddiv", "Div", "quotient">;
def TRowExpandMax : WithColumn<"trowexpandmax", "Max", "larger">;
def TRowExpandMin : WithColumn<"trowexpandmin", "Min", "smaller">;
def TRowExpandExpdif : WithColumn<"trowexpandexpdif", "ExpDif", "exp of the difference">;
def TColExpand : Instruction<"tcolexpand", "a row repeated along its columns", Semantics<"Expand">> {
  let ins = [Tile<"1n">];
}
def TColExpandAdd : WithRow<"tcolexpandadd", "Add", "sum">;
def TColExpandSub : WithRow<"tcolexpandsub", "Sub", "difference">;
def TColExpandMul : WithRow<"tcolexpandmul", "Mul", "product">;
def TColExpandDiv : WithRow<"tcolexpanddiv", "Div", "quotient">;
def TColExpandMax : WithRow<"tcolexpandmax", "Max", "larger">;
def TColExpandMin : WithRow<"tcolexpandmin", "Min", "smaller">;
def TColExpandExpdif : WithRow<"tcolexpandexpdif", "ExpDif", "exp of the difference">;
