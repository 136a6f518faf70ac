// Sorting operations. Sorts are stable (ties go to the lowest position), and NaN is last in every
// order.
include "ir/ops/op_base.td"

class Ptl_Sort<string mnemonic, string sum> : Ptl_Builtin<mnemonic> {
  let name = mnemonic;
  let group = "sort";
  let summary = sum;
  let opClass = "Sort";
  let axisFlow = "Along";
  let params = [Ptl_In<"x", "operand">, Ptl_LastAxis<"axis to sort along">,
                Ptl_Flag<"descending", "largest first">];
  let flops = "in * 16";
  let customCheck = 1;
  let a2 = "native TSORT32 and TMRGSORT for f16, f32; others by way of f32";
}

def Ptl_SortOp : Ptl_Sort<"sort", "elements in order"> {
  let description = [{Smallest first, or largest first with `descending: true`; NaN last either way. Equal elements keep their order.}];
  let signatures = ["[T: number] (T[..]) -> T[..]"];
  let example = "fn example[R, C](x: f32[R, C]) -> f32[R, C] { return sort(x, axis: 1) }\n";
}
def Ptl_ArgsortOp : Ptl_Sort<"argsort", "positions that put elements in order"> {
  let description = [{`gather(x, argsort(x))` is `sort(x)`. Equal elements: the lower position first.}];
  let signatures = ["[T: number] (T[..]) -> i32[..]"];
  let example = "fn example[R, C](x: f32[R, C]) -> i32[R, C] { return argsort(x, axis: 1) }\n";
}
def Ptl_TopkOp : Ptl_Sort<"topk", "the largest elements of the last axis, and where they are"> {
  let description = [{
Values and positions of the `k` largest elements along the last axis, largest first; equal ones by position, NaN after all numbers.
`k` must be at most the length of the axis.
}];
  let params = [Ptl_In<"x", "operand">, Ptl_Dim<"k", "how many">];
  let resultNames = ["values", "positions"];
  let signatures = ["[T: number] (T[.., N]) -> T[?], i32[?]"];
  let example = [{fn example[N, static E](p: f32[N, E]) -> f32[N, 2]
where E >= 2
{
    let (v, i) = topk(p, 2)
    return v * f32(i)
}
}];
}
