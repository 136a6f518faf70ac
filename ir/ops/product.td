// Products that contract axes.
include "ir/ops/op_base.td"

class Ptl_Product<string mnemonic, string spelling, string sum> : Ptl_Builtin<mnemonic> {
  let name = spelling;
  let group = "product";
  let summary = sum;
  let opClass = "Product";
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
  let flops = "2 * K * out";
  let example = "fn example[M, K, N](a: f16[M, K], b: f16[K, N]) -> f32[M, N] { return a @ b }\n";
}
def Ptl_EinsumOp : Ptl_Product<"einsum", "einsum", "sum of products in index notation"> {
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
