// Conversion between element types, and quantisation.
include "ir/ops/op_base.td"

class Ptl_Conversion<string mnemonic, string sum, string chip> : Ptl_Builtin<mnemonic> {
  let name = mnemonic;
  let group = "conversion";
  let summary = sum;
  let opClass = "Conversion";
  let axisFlow = "Named";
  let a2 = chip;
}
class Ptl_ElemParam<string defaultText, string docLine> : Ptl_Keyword<"to", "ElemType", defaultText, docLine>;

def Ptl_ConvertOp : Ptl_Conversion<"convert", "conversion to the element type that is called", "native TCVT"> {
  let cpuCost = 1;
  let aliases = ["bool", "i4", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f4e2m1", "f8e8m0", "f8e4m3", "f8e5m2", "f16", "bf16",
                 "f32", "f64", "int"];
  let description = [{
`f16(x)` rounds to nearest even unless `round:` says otherwise. From float to integer a rounding mode is required; the result saturates
and NaN becomes 0. Integer narrowing wraps unless `saturate: true`; `f8` types saturate. From and to `bool`: true is 1, and anything but 0
is true. The modes are `.even` and `.away` (to nearest, ties to even or away from zero), `.zero`, `.down`, `.up`.
}];
  let params = [Ptl_In<"x", "value to convert">,
                Ptl_Choice<"round", ["even", "away", "zero", "down", "up"], "even", "rounding mode; required from float to integer">,
                Ptl_Flag<"saturate", "limit to the range of the type instead of wrapping">];
  let signatures = ["[T: any] (T[*]) -> elem[*]"];
  let customCheck = 1;
  let example = [{fn example[N](x: f32[N]) -> i8[N] { return i8(x, round: .even, saturate: true) }
}];
}
def Ptl_BitcastOp : Ptl_Conversion<"bitcast", "the same bits as another element type", "native TASSIGN"> {
  let cpuCost = 1;
  let description = [{`bitcast(x, to: u32)`. Both types must have the same width.}];
  let params = [Ptl_In<"x", "operand">, Ptl_Named<"to", "ElemType", "element type of the result">];
  let signatures = ["[T: number] (T[*]) -> elem[*]"];
  let customCheck = 1;
  let flops = "0";
  let example = "fn example[N](x: f32[N]) -> u32[N] { return bitcast(x, to: u32) }\n";
}
def Ptl_QuantizeOp : Ptl_Conversion<"quantize", "scaled conversion to a small type", "native TQUANT"> {
  let cpuCost = 5;
  let description = [{
`x / scale + zero`, rounded to nearest even and saturated to the type. `scale` and `zero` broadcast: `f32[R, 1]` is one scale per row.
}];
  let params = [Ptl_In<"x", "values">, Ptl_In<"scale", "what one step of the result stands for">,
                Ptl_Keyword<"zero", "Value", "0", "the result that stands for 0", [Optional<Ptl_Value>]>,
                Ptl_ElemParam<"i8", "element type of the result">];
  let signatures = ["[T: float] (T[*], T[*], i32[*]?) -> elem[*]"];
  let flops = "2 * out";
  let example = "fn example[R, C](x: f32[R, C], s: f32[R, 1]) -> i8[R, C] { return quantize(x, s, to: i8) }\n";
}
def Ptl_DequantizeOp : Ptl_Conversion<"dequantize", "value of a quantised number", "native TDEQUANT"> {
  let cpuCost = 3;
  let description = [{`(q - zero) * scale`, in the element type of `scale`. `scale` and `zero` broadcast.}];
  let params = [Ptl_In<"q", "quantised values">, Ptl_In<"scale", "what one step of `q` stands for">,
                Ptl_Keyword<"zero", "Value", "0", "the `q` that stands for 0", [Optional<Ptl_Value>]>];
  let signatures = ["[Q: number, T: float] (Q[*], T[*], i32[*]?) -> T[*]"];
  let flops = "2 * out";
  let example = "fn example[R, C](q: i8[R, C], s: f32[R, 1]) -> f32[R, C] { return dequantize(q, s) }\n";
}
