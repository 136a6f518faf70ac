// Products of matrices.
include "ir/ops/instructions/instruction_base.td"

/// The accumulator's initial value: `Nothing` (zero); `Sum`, the first input; `Row`, the last
/// input.
class ProductSemantics<string start> : Semantics<"Matmul", [start]>;

class Product<string mnemonic, string summary, Semantics meaning> : Instruction<mnemonic, summary, meaning> {
  let pipe = M;
  let ins = [Tile<"mk", "left">, Tile<"kn", "right">];
  let outs = [Tile<"mn", "acc">];
}
/// Adds to an accumulator, which is the first input.
class ProductAdded<string mnemonic, string summary, Semantics meaning> : Product<mnemonic, summary, meaning> {
  let ins = [AnyType<Tile<"mn", "acc">>, Tile<"mk", "left">, Tile<"kn", "right">];
  let inPlace = 1;
}
/// Adds a row that is broadcast over all rows, the last input.
class ProductAndRow<string mnemonic, string summary, Semantics meaning> : Product<mnemonic, summary, meaning> {
  let ins = [Tile<"mk", "left">, Tile<"kn", "right">, AnyType<Tile<"1n", "bias">>];
}

def TMatmul : Product<"tmatmul", "matrix product", ProductSemantics<"Nothing">>;
def TMatmulAcc : ProductAdded<"tmatmul.acc", "matrix product added to an accumulator", ProductSemantics<"Sum">>;
def TMatmulBias : ProductAndRow<"tmatmul.bias", "matrix product plus a row that is broadcast", ProductSemantics<"Row">>;
def TGemv : Product<"tgemv", "product of one row and a matrix", ProductSemantics<"Nothing">>;
def TGemvAcc : ProductAdded<"tgemv.acc", "product of one row and a matrix, added", ProductSemantics<"Sum">>;
def TGemvBias : ProductAndRow<"tgemv.bias", "product of one row and a matrix, plus a row", ProductSemantics<"Row">>;

// ---- block-scaled: each operand is followed by the tile of its scales ---------------------------

class ScaledProduct<string mnemonic, string summary, string start>
    : Product<mnemonic, summary, Semantics<"ScaledMatmul", [start]>> {
  let library = "TMATMUL_MX";
}
defvar scale = AnyType<Tile<"*", "scale">>;
def TMatmulMx : ScaledProduct<"tmatmul.mx", "matrix product of block-scaled operands", "Nothing"> {
  let ins = [Tile<"mk", "left">, scale, Tile<"kn", "right">, scale];
}
def TMatmulMxAcc : ScaledProduct<"tmatmul.mx.acc", "block-scaled matrix product, added", "Sum"> {
  let ins = [AnyType<Tile<"mn", "acc">>, Tile<"mk", "left">, scale, Tile<"kn", "right">, scale];
  let inPlace = 1;
}
def TMatmulMxBias : ScaledProduct<"tmatmul.mx.bias", "block-scaled matrix product plus a row", "Row"> {
  let ins = [Tile<"mk", "left">, scale, Tile<"kn", "right">, scale, AnyType<Tile<"1n", "bias">>];
}
