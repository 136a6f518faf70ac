// Products, which contract axes.
include "ir/ops/op_base.td"

class Ptl_Product<string mnemonic, string spelling, string sum> : Ptl_Builtin<mnemonic> {
  let name = spelling;
  let group = "product";
  let summary = sum;
  let opClass = "Product";
  let axisFlow = "Named";
  let linearity = "Factors";
  let core = "Cube";
  let pipe = "m";
  let a2 = "native TMATMUL for i8, f16, bf16, f32";
  let a5 = "native TMATMUL for i8, f8e4m3, f8e5m2, f16, bf16, f32";
}

def Ptl_MatmulOp : Ptl_Product<"matmul", "@", "matrix product"> {
  let aliases = ["dot"];
  let description = [{
Multiplies matrices along the last axis of `a` and the second last of `b`; leading axes are a batch, of
which extents of 1 and missing axes broadcast; a plain matrix or vector goes with every member of it. The result has the accumulator type: `f16 @ f16` is `f32`, `i8 @ i8` is `i32`,
`f32 @ f32` is full `f32`. As a function, `dot(a, b, precision: .tf32)` permits shortened factors.
}];
  let params = [Ptl_In<"a", "left factor">, Ptl_In<"b", "right factor">,
                Ptl_Choice<"precision", ["full", "tf32"], "full", "how exactly `f32` factors are taken">];
  let signatures = ["[T: number] (T[.., M, K], T[.., K, N]) -> acc(T)[.., M, N]",
                    "[T: number] (T[.., M, K], T[K, N]) -> acc(T)[.., M, N]",
                    "[T: number] (T[M, K], T[.., K, N]) -> acc(T)[.., M, N]",
                    "[T: number] (T[.., M, K], T[K]) -> acc(T)[.., M]",
                    "[T: number] (T[K], T[.., K, N]) -> acc(T)[.., N]",
                    "[T: number] (T[K], T[K]) -> acc(T)"];
  // `scales`: absent, or those of the rows of `a` and of the columns of `b`, one row of scales for
  // each: a block-scaled product, which the machine executes directly.
  let arguments = (ins Ptl_Value:$a, Ptl_Value:$b, Variadic<Ptl_Value>:$scales, StrAttr:$precision);
  let flops = "2 * K * out";
  let example = "fn example[M, K, N](a: f16[M, K], b: f16[K, N]) -> f32[M, N] { return a @ b }\n";
}

/// The builder expands it: to a product of the scaled values or, for machines with block-scaled
/// products, to a product with scales.
def Ptl_ScaledDotRecord : Ptl_Syntax<"scaled_dot"> {
  let name = "scaled_dot";
  let group = "product";
  let axisFlow = "Named";
  let summary = "product of block-scaled matrices";
  let opClass = "Product";
  let core = "Cube";
  let pipe = "m";
  let description = [{
`scaled_dot(a, a_scale, b, b_scale)` is the product of `a` with the transpose of `b`, where each 32 neighbouring elements of a row have one scale,
a power of two. The contracted axis is the last one of both, so its length is a multiple of 32. Every element stands for itself times its scale, in
`f32`; these are multiplied, and summed in `f32`. `a` and `b` may have different element types.
}];
  let params = [Ptl_In<"a", "elements of the left factor, `[M, K]`">, Ptl_In<"a_scale", "its scales, `f8e8m0[M, K / 32]`">,
                Ptl_In<"b", "elements of the right factor, transposed: `[N, K]`">, Ptl_In<"b_scale", "its scales, `f8e8m0[N, K / 32]`">];
  let signatures = ["[A: any, B: any] (A[M, K], f8e8m0[M, P], B[N, K], f8e8m0[N, Q]) -> f32[M, N]"];
  let customCheck = 1;
  let flops = "2 * K * out";
  let a2 = "none no conversion from `f8` and `f4` types";
  let a5 = "native TMATMUL_MX in kernels, where factors and scales are parts of arrays";
  let example = [{fn example[M, N](a: f8e4m3[M, 64], s: f8e8m0[M, 2], b: f8e4m3[N, 64], t: f8e8m0[N, 2]) -> f32[M, N] {
    return scaled_dot(a, s, b, t)
}
}];
}
def Ptl_EinsumOp : Ptl_Product<"einsum", "einsum", "sum of products in index notation"> {
  let axisFlow = "Lettered";
  let description = [{
`einsum("md,nd->mn", q, k)`: one letter per axis; letters that the result lacks are summed over. Every letter of the result must
occur in an operand. The result has the accumulator type.
}];
  let params = [Ptl_Text<"spec", "the axes of each operand and of the result">, Ptl_Ins<"xs", "operands, in order of `spec`">];
  let signatures = ["[T: number] (T[?]...) -> acc(T)[?]"];
  let customCheck = 1;
  let flops = "terms * points";
  let example = [{fn example[M, N, D](q: f32[M, D], k: f32[N, D]) -> f32[M, N] { return einsum("md,nd->mn", q, k) }
}];
}
