// Operations that move, repeat or drop elements without computing on them.
include "ir/ops/op_base.td"

class Ptl_Shape<string mnemonic, string sum, string chip> : Ptl_Builtin<mnemonic> {
  let name = mnemonic;
  let group = "shape";
  let summary = sum;
  let opClass = "Shape";
  let linearity = "Moves";
  let flops = "0";
  let customCheck = 1;
  let a2 = chip;
}

def Ptl_ReshapeOp : Ptl_Shape<"reshape", "same elements in another shape", "native TRESHAPE; partial inner axes are refused"> {
  let axisFlow = "Reshaped";
  let description = [{Row-major over lengths. The product of `dims` must be the number of elements.}];
  let params = [Ptl_In<"x", "operand">, Ptl_Dims<"dims", "the new shape: `[A, B / 2]`">];
  let signatures = ["[T: any] (T[?]) -> T[?]"];
  let example = "fn example[R, C](x: f32[R, C]) -> f32[R * C] { return reshape(x, [R * C]) }\n";
}
def Ptl_TransposeOp : Ptl_Shape<"transpose", "reorder the axes", "native TTRANS"> {
  let axisFlow = "Permuted";
  let cpuCost = 0;
  let aliases = [".T"];
  let description = [{
`transpose(x, [2, 0, 1])`: axis `n` of the result is the axis of `x` that the list names at `n`. Without a list, and
written `x.T`, it swaps the last two axes.
}];
  let params = [Ptl_In<"x", "operand">,
                Ptl_Opt<"axes", "Axes", "every axis of `x` once, in the new order", [DenseI64ArrayAttr]>];
  let signatures = ["[T: any] (T[?]) -> T[?]"];
  let example = "fn example[R, C](x: f32[R, C]) -> f32[C, R] { return x.T }\n";
}
def Ptl_ConcatOp : Ptl_Shape<"concat", "arrays one after the other", "native TCONCAT"> {
  let axisFlow = "Along";
  let description = [{Lengths along `axis` add up; all other lengths must be equal.}];
  let params = [Ptl_Ins<"xs", "arrays of one element type and rank">, Ptl_Axis<"axis along which they are joined">];
  let signatures = ["[T: any] (T[?]...) -> T[?]"];
  let example = "fn example[M, N](a: f32[M], b: f32[N]) -> f32[M + N] { return concat(a, b, axis: 0) }\n";
}
def Ptl_PadOp : Ptl_Shape<"pad", "surround by a value", "native TFILLPAD after, TINSERT before"> {
  let axisFlow = "Margins";
  let description = [{
Adds `before[n]` elements in front of axis `n` and `after[n]` behind it. The lists name every axis; a list left out is all zeros.
}];
  let params = [Ptl_In<"x", "operand">, Ptl_In<"value", "what the new elements hold">,
                Ptl_OptNamed<"before", "Dims", "elements in front, per axis", [Variadic<Index>]>,
                Ptl_OptNamed<"after", "Dims", "elements behind, per axis", [Variadic<Index>]>];
  let traits = [Pure, AttrSizedOperandSegments];
  let signatures = ["[T: any] (T[?], T) -> T[?]"];
  let example = "fn example[N](x: f32[N]) -> f32[N + 3] { return pad(x, 0.0, before: [1], after: [2]) }\n";
}
def Ptl_BroadcastOp : Ptl_Shape<"broadcast", "repeat axes of extent 1", "native TROWEXPAND, TCOLEXPAND"> {
  let axisFlow = "Repeated";
  let cpuCost = 0;
  let description = [{
The operand's axes stand for the last axes of `dims`; each has that extent or extent 1. Elementwise operators do it by themselves.
}];
  let params = [Ptl_In<"x", "operand">, Ptl_Dims<"dims", "the new shape">];
  let signatures = ["[T: any] (T[?]) -> T[?]"];
  let example = "fn example[R, C](x: f32[C]) -> f32[R, C] { return broadcast(x, [R, C]) }\n";
}
def Ptl_InterleaveOp : Ptl_Shape<"interleave", "alternate two arrays along the last axis", "emulated TGATHER"> {
  let axisFlow = "Along";
  let description = [{Element `2 * n` of the last axis is element `n` of `a`, element `2 * n + 1` element `n` of `b`.}];
  let params = [Ptl_In<"a", "elements at even positions">, Ptl_In<"b", "elements at odd positions">];
  let signatures = ["[T: any] (T[.., N], T[.., N]) -> T[?]"];
  let example = "fn example[N](a: f32[N], b: f32[N]) -> f32[2 * N] { return interleave(a, b) }\n";
  let a5 = "native TINTERLEAVE";
}
def Ptl_DeinterleaveOp : Ptl_Shape<"deinterleave", "take even and odd positions apart", "native TGATHER with a mask pattern"> {
  let axisFlow = "Along";
  let description = [{The reverse of `interleave`: two arrays of half the last axis, whose length must be even.}];
  let params = [Ptl_In<"x", "operand">];
  let signatures = ["[T: any] (T[.., N]) -> T[?], T[?]"];
  let resultNames = ["even", "odd"];
  let example = [{fn example[N](x: f32[N]) -> f32[N / 2]
where N % 2 == 0
{
    let (even, odd) = deinterleave(x)
    return even + odd
}
}];
  let a5 = "native TDEINTERLEAVE";
}
class Ptl_Triangle<string mnemonic, string sum> : Ptl_Shape<mnemonic, sum, "native TTRI"> {
  let axisFlow = "Matrices";
  let params = [Ptl_In<"x", "operand">,
                Ptl_Keyword<"diagonal", "Value", "0", "which diagonal bounds it: 0 the main one, 1 the one above", [Optional<Index>]>];
  let signatures = ["[T: any] (T[.., M, N], int?) -> T[.., M, N]"];
  let example = "fn example[M, N](x: f32[M, N]) -> f32[M, N] { return " # mnemonic # "(x) }\n";
  let customCheck = 0;
}
def Ptl_TrilOp : Ptl_Triangle<"tril", "lower triangle of the last two axes"> {
  let description = [{Keeps element `[m, n]` where `n <= m + diagonal`; the others become 0.}];
}
def Ptl_TriuOp : Ptl_Triangle<"triu", "upper triangle of the last two axes"> {
  let description = [{Keeps element `[m, n]` where `n >= m + diagonal`; the others become 0.}];
}
