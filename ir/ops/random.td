// Counter-based random numbers: the same stream on every executor.
include "ir/ops/op_base.td"

class Ptl_Random<string mnemonic, string sum> : Ptl_Builtin<mnemonic> {
  let name = mnemonic;
  let group = "random";
  let summary = sum;
  let opClass = "Random";
  let flops = "40 * out";
  let bytes = "out";
  let a2 = "emulated integer products";
  let a5 = "native TRANDOM";
}

def Ptl_PhiloxOp : Ptl_Random<"philox", "random bits of a position in a stream"> {
  let axisFlow = "Named";
  let cpuCost = 80;
  let description = [{
Word `counter % 4` of block `counter / 4` of Philox 4x32-10 with the key `seed` (low word first); the block's counter is
`(counter / 4)` in the two low words, 0 in the two high ones. Equal arguments give equal bits, everywhere.
}];
  let params = [Ptl_In<"counter", "positions in the stream, at least 0">, Ptl_In<"seed", "which stream">];
  let signatures = ["[C: integer] (C[*], int) -> u32[*]"];
  let example = "fn example[N](x: f32[N], seed: int) -> u32[N] { return philox(index(0..N), seed) }\n";
}
def Ptl_RandomOp : Ptl_Random<"random", "an array of random values"> {
  let cpuCost = 80;
  let description = [{
The element at row-major position `p` is made of `philox(p, seed)`. Floats are `low + (bits >> 8) * 2^-24 * (high - low)`, computed in `f32`
and rounded to the element type; integers are `low + bits % (high - low)`; `bool` is the lowest bit. Integers need `low` and `high`.
}];
  let params = [Ptl_ArrayType<"type of the result">,
                Ptl_Named<"seed", "Value", "which stream", [Ptl_Value]>,
                Ptl_Keyword<"low", "Value", "0.0", "lower limit, included", [Ptl_Value]>,
                Ptl_Keyword<"high", "Value", "1.0", "upper limit, excluded", [Ptl_Value]>];
  let arguments = (ins Ptl_Value:$seed, Ptl_Value:$low, Ptl_Value:$high, Variadic<Index>:$lengths);
  let signatures = ["(int, elem?, elem?) -> type"];
  let example = [{test "uniform" {
    for n in [1, 100] {
        let x = random(f32[n], seed: 1, low: -8.0, high: 8.0)
        expect(all(x >= -8.0))
    }
}
}];
}
