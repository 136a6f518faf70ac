// Operations that create arrays without array operands.
include "ir/ops/op_base.td"

class Ptl_Creation<string mnemonic, string sum, string chip> : Ptl_Builtin<mnemonic> {
  let name = mnemonic;
  let group = "creation";
  let summary = sum;
  let opClass = "Creation";
  let flops = "0";
  let a2 = chip;
}

def Ptl_ZerosOp : Ptl_Creation<"zeros", "an array of zeros", "native TEXPANDS"> {
  let axisFlow = "Everywhere";
  let cpuCost = 0;
  let description = [{`zeros(f32[i, j])` has exactly the type that is named. For `bool` it is false.}];
  let params = [Ptl_ArrayType<"type of the result">];
  let signatures = ["() -> type"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return x + zeros(f32[N]) }\n";
}
def Ptl_OnesOp : Ptl_Creation<"ones", "an array of ones", "native TEXPANDS"> {
  let axisFlow = "Everywhere";
  let cpuCost = 0;
  let description = [{`ones(f32[i, j])` has exactly the type that is named. For `bool` it is true.}];
  let params = [Ptl_ArrayType<"type of the result">];
  let signatures = ["() -> type"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return x + ones(f32[N]) }\n";
}
def Ptl_FullOp : Ptl_Creation<"full", "an array of one value", "native TEXPANDS"> {
  let axisFlow = "Everywhere";
  let cpuCost = 0;
  let description = [{`full(f32[i, 1], -inf)`: every element is the value, which has the element type of the array.}];
  let params = [Ptl_ArrayType<"type of the result">, Ptl_In<"value", "what every element holds">];
  let signatures = ["(elem) -> type"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return x + full(f32[N], 0.5) }\n";
}
def Ptl_IndexOp : Ptl_Creation<"index", "the positions in a range", "native TCI"> {
  let axisFlow = "Everywhere";
  let cpuCost = 0;
  let description = [{
`index(r)` is `i32[r]`: `r.start`, `r.start + 1`, up to `r.end - 1`. Any range will do: `index(0..N)`, and `index(N)` for short.
}];
  let params = [Ptl_Param<"r", "Range", "the range, or a length">];
  let arguments = (ins Index:$start, Variadic<Index>:$lengths);
  let signatures = ["() -> i32[?]"];
  let customCheck = 1;
  let example = "fn example[N](x: f32[N]) -> i32[N] { return index(0..N) * i32(x > 0.0) }\n";
}
def Ptl_OneHotOp : Ptl_Creation<"one_hot", "rows with a single one", "emulated TCI, TCMP, TSEL"> {
  let axisFlow = "Appended";
  let description = [{
`one_hot(id, E: 64)` adds an axis of extent `E` at the end: 1 at the position that `id` names, else 0. A position outside of `0..E` gives
a row of zeros.
}];
  let params = [Ptl_In<"ids", "positions of the ones">,
                Ptl_Named<"E", "Dim", "extent of the new axis", [Variadic<Index>], "lengths">,
                Ptl_Keyword<"to", "ElemType", "f32", "element type of the result">];
  let signatures = ["[I: integer] (I[..]) -> elem[.., E]"];
  let example = "fn example[N](id: i32[N]) -> f32[N, 64] { return one_hot(id, E: 64) }\n";
}
