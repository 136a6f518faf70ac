// Element access by computed positions, and loads that reach beyond the edges.
include "ir/ops/op_base.td"

def Ptl_GatherOp : Ptl_Builtin<"gather"> {
  let name = "gather";
  let group = "gather_scatter";
  let summary = "take elements by position along an axis";
  let description = [{
`idx` has the rank of `x`. Element `[.., n, ..]` of the result is `x[.., idx[.., n, ..], ..]`, with the position at `axis`; along
the other axes the extents are equal. Whole rows are gathered by indexing: `x[rows, :]`. Positions are checked like any index.
}];
  let params = [Ptl_In<"x", "source">, Ptl_In<"idx", "positions along the axis">, Ptl_LastAxis<"axis of the positions">];
  let signatures = ["[T: any, I: integer] (T[?], I[?]) -> T[?]"];
  let example = [{fn example[R, C, K](x: f32[R, C], idx: i32[R, K]) -> f32[R, K]
where all(idx >= 0), all(idx < C)
{
    return gather(x, idx, axis: 1)
}
}];
  let opClass = "Gather";
  let axisFlow = "Gathered";
  let linearity = "Moves";
  let flops = "0";
  let bytes = "2 * out + idx";
  let customCheck = 1;
  let a2 = "native TGATHER";
}
def Ptl_ScatterOp : Ptl_Builtin<"scatter"> {
  let name = "scatter";
  let group = "gather_scatter";
  let summary = "a copy with elements replaced by position";
  let description = [{
The reverse of `gather`: a copy of `x` in which element `[.., idx[.., n, ..], ..]` is `v[.., n, ..]`. Where a position occurs more
than once the last one in order of `n` counts; `combine` adds or compares instead of replacing. `idx` and `v` have one shape. Positions are
checked like any index.
}];
  let params = [Ptl_In<"x", "array to start from">, Ptl_In<"idx", "positions along the axis">, Ptl_In<"v", "new elements">,
                Ptl_LastAxis<"axis of the positions">,
                Ptl_Choice<"combine", ["set", "add", "max", "min"], "set", "how an element meets the one that was there">];
  let signatures = ["[T: any, I: integer] (T[?], I[?], T[?]) -> T[?]"];
  let example = [{fn example[N, K](x: f32[N], idx: i32[K], v: f32[K]) -> f32[N]
where all(idx >= 0), all(idx < N)
{
    return scatter(x, idx, v, axis: 0)
}
}];
  let opClass = "Scatter";
  let axisFlow = "Along";
  let linearity = "Moves";
  let flops = "0";
  let customCheck = 1;
  let a2 = "native TSCATTER";
}
def Ptl_LoadRecord : Ptl_Syntax<"load"> {
  let name = "load";
  let group = "gather_scatter";
  let summary = "a region of an array, with a value beyond its edges";
  let description = [{
`load(x[h - 1, r - 1, :], outside: 0.0)`: like `x[…]`, but positions below 0 or beyond an axis are legal and hold `outside`. Nothing is
read there. Only integers, ranges and `:` may index.
}];
  let params = [Ptl_Param<"region", "Region", "index expression">,
                Ptl_Named<"outside", "Value", "what lies beyond the edges">];
  let signatures = ["[T: any] (T) -> T[?]"];
  let example = [{kernel example[N](x: f32[N]) -> (y: f32[N])
{
    parallel r in tiles(N, 256) {
        y[r] = load(x[r - 1], outside: 0.0) + load(x[r + 1], outside: 0.0)
    }
}
}];
  let opClass = "Load";
  let effect = "Read";
  let core = "Dma";
  let pipe = "mte2";
  let flops = "0";
  let customCheck = 1;
  let a2 = "native TLOAD with TFILLPAD";
}
